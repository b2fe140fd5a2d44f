/*
 * What shows a stranger that the ledger holds something: a checkpoint, the
 * paths to its root, and the history of the keys that signed it. Every function
 * reads at c->reading, and gives what it finds in c->arena. For the same size
 * it is the same, whenever it is asked.
 *
 *	if (signed_root_read(c, size, &at, e) ||
 *	    inclusion_prove(c, seq, &at, &proof, e) ||
 *	    key_history_prove(c, &at, &history, e))
 *		return -1;
 */
#ifndef DOMAIN_LEDGER_PROOFS_H
#define DOMAIN_LEDGER_PROOFS_H

#include "domain/context.h"
#include "ledger/chain/evidence.h"

/* A checkpoint that the ledger signed, and what it says. */
struct signed_root {
	uint64_t size;
	struct digest root;
	struct str note;
};

/* The first one that covers `size` events; without a size the newest.
 * err_not_found when the ledger has not come to it. */
int signed_root_read(
    struct context *, struct opt_int size, struct signed_root *, struct err *);

/* That event seq is in the tree of that root, also as a file. */
struct inclusion {
	struct stored_event event;
	struct merkle_proof path;
	struct str tlog_proof;
};
int inclusion_prove(struct context *, int64_t seq, const struct signed_root *,
    struct inclusion *, struct err *);

/* The keys that a checkpoint covers, each but the first with the event that
 * names it and the proof of that, as evidence has them. */
struct key_history {
	const struct evidence_key *keys;
	size_t n;
};
int key_history_prove(struct context *, const struct signed_root *,
    struct key_history *, struct err *);

#endif
