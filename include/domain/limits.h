/*
 * How many requests a credential, and all of an application together, may make:
 * in a burst, and in a calendar month (UTC). The numbers are operators' events,
 * or else the configuration's; the counts are in a file that all processes of
 * a state map, one a month: <state>/limits/2026-11. docs/decisions/0019 says
 * why, and what may be lost.
 *
 * No lock is held over a count, so a process that dies leaves none; with any
 * number of processes never more pass than permitted.
 *
 *	struct limits_party party = limits_party_of(caller);
 *	struct limits_report report;
 *
 *	rc = limits_take(service, &party, a, &report, e);
 */
#ifndef DOMAIN_LIMITS_H
#define DOMAIN_LIMITS_H

#include "domain/caller.h"
#include "domain/service.h"
#include "ledger/view/db.h"

#define LIMIT_RATE_MAX    1000000
#define LIMIT_BURST_MAX   1000000
#define LIMIT_MONTHLY_MAX 1000000000000

/* What operators set for one application or credential; 0: not set. */
struct limit {
	int64_t requests_per_second, burst, monthly;
};

/* While nothing is set for the application, each of its credentials is counted
 * alone, and what is not set of its numbers is the configuration's. Once
 * something is, the rest of the application's is the configuration's, and a
 * credential for which nothing is set shares it. */
struct limits {
	struct limit application, credential;
};

/* For the query that finds a credential: of application "a" and credential
 * "c", each with a uid; both are one look-up by key. limits_from takes them
 * from the row, beginning at that column. */
#define LIMITS_COLUMNS                                   \
	"la.requests_per_second, la.burst, la.monthly, " \
	"lc.requests_per_second, lc.burst, lc.monthly"
#define LIMITS_JOINS                                        \
	" LEFT JOIN request_limit la ON la.subject = a.uid" \
	" LEFT JOIN request_limit lc ON lc.subject = c.uid"
struct limits limits_from(const struct rows *, int column);

/* Who is counted. */
struct limits_party {
	struct place place;
	struct uid application;
	struct str credential; /* public id */
	struct limits limits;
};

/* The caller is an application whose credential was found. */
struct limits_party limits_party_of(const struct caller *);

/* One limit as it stands. */
struct limits_item {
	const char *name; /* burst, monthly; application-… beside a credential's
			     own */
	uint64_t quota, window_s;
	uint64_t left;    /* requests that may follow at once */
	uint64_t reset_s; /* until there are more, rounded up; 0: all are there
			   */
	bool violated;
};

struct limits_report {
	struct limits_item items[4];
	size_t n; /* 0: the counts cannot be had */
};

/*
 * Counts one request, or refuses it: err_rate with Retry-After and the names
 * of the limits, and nothing is counted. When the table cannot be had, or has
 * no room, the request passes and the log says so: an operator's fault is not
 * the client's.
 */
int limits_take(struct service *, const struct limits_party *, struct arena *,
    struct limits_report *, struct err *);

/* How it stands, for a request that is not counted. */
void limits_look(
    struct service *, const struct limits_party *, struct limits_report *);

/* For the worker, each minute: what was counted is on the disk afterwards, and
 * months before the last one are removed. */
int limits_keep(struct service *, struct err *);

/* The counts' files below the state; the service's own. */
struct limits_store;
struct limits_store *limits_store_new(struct str state);
void limits_store_free(struct limits_store *);

#endif
