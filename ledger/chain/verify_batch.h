/*
 * Checking one batch by itself: everything about it that needs no other batch.
 * What ties it to the one before (seq, prev, at, the Merkle root) is left in
 * the result, for whoever goes over the batches in order.
 */
#ifndef LEDGER_CHAIN_VERIFY_BATCH_H
#define LEDGER_CHAIN_VERIFY_BATCH_H

#include "ledger/chain/batch_check.h"

/* What is the same for batches with the same keys. */
struct verify_scope {
	size_t first; /* number of the first of these batches */
	struct str origin;
	struct public_key key;
	uint32_t key_id;
	struct str allowed_signers; /* after the batch */
	struct instant after;       /* no commit by this key is earlier */
	bool changes_keys;          /* the batch ends with a key event */
	const char *key_fault;      /* why its key event cannot stand */
	bool quick;
};

/* By `first`, the first one's is 0. */
struct verify_scopes {
	const struct verify_scope *items;
	size_t n;
};
const struct verify_scope *verify_scope_of(
    const struct verify_scopes *, size_t batch);

/* A thread's own means. */
struct verify_bench {
	struct repo *repo;
	struct arena *batch;   /* reset for each batch */
	struct arena *payload; /* reset for each payload */
	struct signers_cache signers;
};

struct batch_result {
	/* The first fault: *check is NULL when there is none. */
	const char *check;
	size_t index; /* of the event in the batch */
	char reason[256];

	/* Set as far as the events could be read; first_* when any. */
	bool any;
	uint64_t first_seq;
	struct digest first_prev;
	struct instant first_at;

	/* Set when there is no fault. */
	struct oid commit;
	size_t n, payloads;
	struct instant last_at;
	struct digest head, root;
	struct str checkpoint;
	struct digest *leaves;
	struct index_event *records; /* one an event */
	bool closed;                 /* the last event is ledger.closed */
	bool indexed;                /* an event says that the index begins */
	bool has_index;
	struct digest index_root; /* as the trailer says */
	bool key_changed;         /* the last event is a key event */
};

/* The result's memory is taken from the arena. -1 when it could not be found
 * out, with an error other than err_corrupt. */
int verify_batch(const struct verify_scope *, struct verify_bench *,
    struct oid commit, struct arena *, struct batch_result *, struct err *);

#endif
