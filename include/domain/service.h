/*
 * The running service: configuration, and the ledgers it has open. Thread-safe.
 */
#ifndef DOMAIN_SERVICE_H
#define DOMAIN_SERVICE_H

#include "domain/caller.h"
#include "ledger/write/ledger.h"

/*
 * Configuration: a file of `name = value` lines (PROBITY_CONFIG, by default
 * /etc/probity/probity.conf, absent is fine); an environment variable
 * PROBITY_<NAME> goes before it. docs/configuration.md lists the names. Its
 * faults, its origin and its reload: domain/config.h.
 */
struct config {
	struct str state;       /* PROBITY_STATE, ./var by default */
	struct str keys;        /* PROBITY_KEYS, <state>/keys by default */
	struct str base_url;    /* public URL, no trailing slash */
	struct str origin_host; /* first part of ledger origins */
	int64_t threads;        /* FastCGI threads: 64 */
	int64_t max_body;       /* bytes: 1 MiB */
	int64_t free_floor;     /* bytes: 64 MiB */
	int64_t max_ledgers;    /* open at once: 64 */
	struct str listen; /* socket for probity.fcgi to open; empty: none */
	int64_t pack_threshold;       /* loose objects: 6,700, as git has it */
	int64_t verify_hours;         /* between full verifications: 24 */
	int64_t scrub_days;           /* between two scrubs: 30 */
	int64_t scrub_mib_per_second; /* read by a scrub: 4 */
	struct str witness_file; /* of verifier keys and URLs; empty: none */
	int64_t witness_minimum; /* cosignatures; 0: of every witness */
	int64_t witness_minutes; /* between rounds: 10 */
	struct str checkpoint_folder; /* for the worker to write; empty: none */
	int64_t checkpoint_minutes;   /* between two: 60 */
	struct str mirror_file;       /* list of where to push; empty: none */
	int64_t mirror_minutes;       /* between two pushes: 60 */
	int64_t mirror_seconds;       /* longest push: 120 */
	struct str git;               /* program that serves clones: git */
	int64_t clone_seconds;        /* longest clone: 120 */
	int64_t max_clones;           /* at once, on one state: 4 */
	int64_t lineage_events_at_once; /* largest export not left to the
					   worker: 10,000 */
	int64_t webhook_seconds;        /* longest request of a webhook: 20 */
	int64_t webhook_lease_seconds;  /* a worker holds an endpoint: 60 */
	int64_t webhook_retry_percent;  /* of the waits between attempts: 100 */
	int64_t access_token_minutes;   /* that a token is good for: 15 */
	struct str log_level;
	struct str_list cors_origins; /* whose pages may read replies */

	struct str timestamp_url; /* authority of RFC 3161; empty: none */
	int64_t timestamp_hours;  /* between time-stamps: 24 */
	struct str timestamp_ca;  /* PEM file they lead to; empty: any */

	/* Of clients' URLs, for outbound_rules_make. */
	struct str outbound_loopback; /* host:port …; empty: none */
	struct str outbound_ca;       /* PEM file; empty: the system's */
	struct str outbound_resolver; /* address:port; empty: the system's */

	/* Of an application for which operators set none. */
	int64_t limit_requests_per_second; /* 100 */
	int64_t limit_burst;               /* 200 */
	int64_t limit_monthly;             /* 1,000,000 */
	struct str access_log;             /* file, or "-"; empty: none */
	struct str confine; /* "yes": front and worker give up what they do not
			       need; "no" */
	struct str_list writable; /* further folders for the front to write */
	struct str metrics_allow; /* who may read /metrics: domain/addresses.h
				   */
};

int config_load(struct arena *, struct config *, struct err *);

struct metrics;
struct service;

/* Copies the configuration. */
int service_new(const struct config *, struct service **, struct err *);
void service_free(struct service *);

/* This process serves one request with one thread: its ledgers are opened for
 * little (ledger_options.brief). Before the first is opened. */
void service_serve_one(struct service *);

/* As it stands; service_reload puts another in its place, and this one stays
 * as it is until the service is freed. Ask once where two answers must agree.
 */
const struct config *service_config(const struct service *);

/* The counters of its state, shared with all processes that serve it. */
struct metrics *service_metrics(struct service *);

/* What the time is for this service and for ledgers it opens from now on:
 * clock_system unless a test holds it still. */
struct instant service_now(const struct service *);
void service_set_clock(struct service *, const struct clock *);

/* What runs long and can go on later ends when it hears of this. A signal's
 * handler may say it. */
void service_stop(struct service *);
bool service_is_stopping(const struct service *);

/* 503: max_ledgers are in use. */
extern const struct err_kind err_capacity;

/*
 * The ledger of a place, opened at first use and kept; at most max_ledgers,
 * the least recently used idle one is closed. Every success is paired with
 * service_release. err_not_found when there is none; err_capacity.
 */
int service_acquire(
    struct service *, const struct place *, struct ledger **, struct err *);
void service_release(struct service *, struct ledger *);

/* How many ledgers are open. */
size_t service_open_count(struct service *);

/* Options to create or rebuild the place's ledger; strings in the arena. */
int service_ledger_options(struct service *, const struct place *,
    struct arena *, struct ledger_options *, struct err *);

/* Where the place's keys have the file of that name, in the arena. */
int service_key_file(struct service *, const struct place *, const char *name,
    struct arena *, const char **path, struct err *);

/* All places that exist on this machine, by name. */
int service_places(
    struct service *, struct arena *, struct place **, size_t *n, struct err *);

/*
 * Whether a ledger's private key may be on a token, as its key file says: then
 * a module of the token's maker runs in this process, and nobody knows what it
 * needs. With more than `most` workspaces the answer is yes, unseen.
 */
bool service_has_tokens(const struct config *, size_t most);

#endif
