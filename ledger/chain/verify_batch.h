/*
 * Checking one batch by itself: everything about it that needs no other batch.
 * What ties it to the one before (seq, prev, at, the Merkle root) is left in
 * the result, for whoever goes over the batches in order.
 */
#ifndef LEDGER_CHAIN_VERIFY_BATCH_H
#define LEDGER_CHAIN_VERIFY_BATCH_H

#include "ledger/chain/batch_check.h"

/* What is the same for every batch. */
struct verify_scope {
	struct str origin;
	struct public_key key;
	uint32_t key_id;
	struct str allowed_signers;
	bool quick;
};

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
};

/* The result's memory is taken from the arena. -1 when it could not be found
 * out, with an error other than err_corrupt. */
int verify_batch(const struct verify_scope *, struct verify_bench *,
    struct oid commit, struct arena *, struct batch_result *, struct err *);

#endif
