/*
 * A ledger: the git repository that is the truth, and the read model that is
 * projected from it. One object per process and ledger; every function may be
 * called by any thread.
 *
 * Writing: ledger_submit queues a command; its deciding function runs in its
 * place in a batch, with the turn held, sees everything before it, emits
 * events or refuses; when ledger_submit returns 0 the events are durable,
 * signed and covered by a signed checkpoint. See docs/architecture.md, "The
 * write path".
 */
#ifndef LEDGER_WRITE_LEDGER_H
#define LEDGER_WRITE_LEDGER_H

#include "ledger/chain/batch.h"
#include "ledger/chain/proof.h"
#include "ledger/chain/signers.h"
#include "ledger/view/project.h"

struct continued;
struct ledger;
struct metric;
struct metrics;
struct reader;

#define LEDGER_FREE_FLOOR ((uint64_t)64 << 20) /* the default */

struct ledger_options {
	const char *dir;      /* STATE/ledgers/<workspace>/<environment> */
	const char *keys_dir; /* KEYS/<workspace>/<environment> */
	struct str origin;    /* for ledger_create */
	const struct view *const *views; /* NULL-ended; lives on */
	const struct clock *clock;
	uint64_t free_floor; /* bytes that must stay free; 0: the default */
	/* For ledger_create: the closed ledger that this one continues, or
	 * NULL. */
	const struct continued *continues;
	struct metrics *metrics; /* lives on; NULL: nothing is counted */
	/* One thread uses it, for little: it reads over the connection that it
	 * writes with, since a second one would have to be opened. */
	bool brief;
};

/* What a ledger counts there, NULL-ended. */
extern const struct metric *const ledger_metrics[];

/*
 * Makes keys, repository and event 0 (`ledger.opened`). err_conflict when the
 * ledger exists. `actor` is who opens it.
 */
int ledger_create(
    const struct ledger_options *, const struct actor *, struct err *);

/* Finishes what the journal holds, catches state.db up. err_rolled_back when
 * the branch is behind what state.db recorded, err_not_found. */
int ledger_open(const struct ledger_options *, struct ledger **, struct err *);
void ledger_close(struct ledger *);

/* The origin of the ledger in this directory, which is not opened otherwise.
 * err_not_found when it is empty. */
int ledger_find_origin(
    const char *dir, struct arena *, struct str *origin, struct err *);

/* Whether its directory was moved aside since it was opened: this object is no
 * use any more, and the place is to be opened anew. */
bool ledger_is_moved(const struct ledger *);

struct str ledger_origin(const struct ledger *);
/* The key in force when this process last had the turn. */
struct public_key ledger_public_key(struct ledger *);
/* Whether that key is kept on a token. */
bool ledger_key_on_token(struct ledger *);

/* HMAC-SHA-256 under the ledger's fingerprint key. */
struct digest ledger_fingerprint(
    const struct ledger *, const struct str *parts, size_t n);

/* Writing. */

/* The place of a command in the batch. */
struct tx;

struct command {
	/* Pure over its argument, the tables, and tx_now and tx_uid; may be run
	 * again. Emits through tx_emit, or returns -1 with a refusal. */
	int (*decide)(struct tx *, void *arg, struct err *);
	void *arg;
	struct actor actor;
	struct uid request;
	struct str trace; /* its traceparent, or no value */
	struct idempotency idempotency;
	struct arena *arena; /* what the decision allocates, and the receipt */
	/* The decision is an operator's word that the clock is right: it is
	 * made although the clock is not plausible, and emits
	 * event_clock_confirmed. */
	bool confirms_clock;
};

/* Data of `clock.confirmed`. */
struct clock_confirmed {
	struct instant wall; /* what the clock said */
	struct instant last; /* the last event's time */
};
extern const struct event_type event_clock_confirmed;

/* One event, as recorded. */
struct recorded {
	uint64_t seq;
	struct digest hash;
	struct signature signature;
	uint32_t key_id;
	struct event event;
};

struct receipt {
	const struct recorded *events; /* in the command's arena */
	size_t n;                      /* 0: the decision emitted nothing */
	struct oid commit;
	struct str checkpoint; /* the signed note that covers them */
	uint64_t size;         /* of the ledger then */
};

/*
 * Returns 0 when the command's events are durable (or it emitted none and the
 * batch it was decided in has settled). -1 with the refusal, or with
 * err_no_space, err_unavailable (nothing was recorded), err_outcome_unknown
 * (extension: event_hash, seq), err_clock, err_rolled_back, err_corrupt.
 */
int ledger_submit(
    struct ledger *, const struct command *, struct receipt *, struct err *);

struct db *tx_db(struct tx *);
struct instant tx_now(const struct tx *);
struct uid tx_uid(struct tx *); /* version 7 at tx_now */
void tx_random(struct tx *, void *out, size_t n);
struct arena *tx_arena(struct tx *);

/* Reading within the turn: the tables hold what was decided so far, and of git
 * the batches before this one. It ends with the decision. */
struct reading;
void tx_reading(struct tx *, struct reading *);

/* Adds an event and projects it at once. data is the struct of the type's
 * shape; payloads were stored by ledger_store_payload. */
int tx_emit(struct tx *, const struct event_type *, const char *subject_kind,
    struct uid subject, const void *data, const struct payload *payloads,
    size_t n_payloads, struct err *);

/* Stores a content, synced, before the command that names it. Fills sha256,
 * size and oid. */
int ledger_store_payload(
    struct ledger *, struct str content, struct payload *, struct err *);

/* Reading. A read sees one position of state.db and never waits for a writer.
 */

struct reading {
	struct db *db;
	struct repo *repo;
	struct ledger *ledger;
	struct reader *reader; /* the connection, for ledger_read_end */
};

int ledger_read_begin(struct ledger *, struct reading *, struct err *);
void ledger_read_end(struct reading *);

/* The position: how many events the tables hold the consequences of. */
int ledger_read_size(struct reading *, uint64_t *out, struct err *);

/* An event with what proves it, from git. err_not_found beyond the position. */
struct stored_event {
	struct recorded recorded;
	struct oid commit;
	struct str checkpoint;
	struct str line;
	const struct signers_key *revocation; /* by which it is void; NULL */
	struct str trace; /* its request's traceparent, or no value */
};
int ledger_read_event(struct reading *, uint64_t seq, struct arena *,
    struct stored_event *, struct err *);

/* n events from `first` on, all within the position; each batch is read once.
 */
int ledger_read_events(struct reading *, uint64_t first, size_t n,
    struct arena *, struct stored_event *, struct err *);

/* The batch that holds an event: one commit. err_not_found beyond the
 * position. */
struct batch_place {
	uint64_t first, count;
	struct oid commit;
};
int ledger_read_batch_place(
    struct reading *, uint64_t seq, struct batch_place *, struct err *);

/* The signed checkpoint of the ledger when it had `size` events, and that
 * size: 0 asks for the newest, another is rounded up to where a batch ended,
 * which is the first checkpoint that covers event size - 1. err_not_found
 * beyond the position, and for an empty ledger. */
int ledger_read_checkpoint(struct reading *, uint64_t *size, struct arena *,
    struct str *note, struct err *);

/* The keys so far, the one in force last; the origin is the ledger's. */
int ledger_read_keys(struct reading *, struct signers *, struct err *);

/* Proofs of RFC 9162 from the tree in the read model: a few rows at any size.
 * err_not_found when a size is beyond the position, or the event beyond the
 * size; err_invalid for a consistency proof from 0. */
int ledger_prove_inclusion(struct reading *, uint64_t seq, uint64_t size,
    struct arena *, struct merkle_proof *, struct err *);
int ledger_prove_consistency(struct reading *, uint64_t old, uint64_t size,
    struct arena *, struct merkle_proof *, struct err *);

/* `width` hashes, 1 to 256, of a tile of C2SP tlog-tiles, as its bytes.
 * err_not_found where the tree has not come. */
int ledger_read_tile(struct reading *, unsigned level, uint64_t number,
    size_t width, struct arena *, struct str *, struct err *);

int ledger_read_payload(struct reading *, uint64_t seq, struct digest,
    size_t max, struct arena *, struct str *out, struct err *);

/* The latest event's receipt-like facts: where the ledger stands. */
struct ledger_status {
	uint64_t size, batches;
	struct digest head, root;
	struct oid commit;
	struct instant last_at;
	struct str checkpoint;
	uint64_t free_bytes;
};
int ledger_read_status(
    struct reading *, struct arena *, struct ledger_status *, struct err *);

/* err_clock: it is not plausible after the last event, so nothing is written
 * until an operator confirms it. */
int ledger_read_clock(struct reading *, struct err *);

/* Upkeep: for the worker. */

/* Syncs the filesystem and frees the journal; moves SQLite's log. */
int ledger_sync(struct ledger *, struct err *);

/* Packs loose objects when there are at least `threshold`. */
int ledger_pack(
    struct ledger *, size_t threshold, size_t *packed, struct err *);

/* Counts loose objects, stopping at `stop`. */
int ledger_count_loose(struct ledger *, size_t stop, size_t *n, struct err *);

/* Makes the tables in state.db again from the repository, in one transaction. A
 * file that is damaged is emptied first; err_view_damaged never comes of it. */
int ledger_rebuild(const struct ledger_options *,
    void (*progress)(void *, uint64_t done, uint64_t total), void *arg,
    uint64_t *events, struct err *);

#endif
