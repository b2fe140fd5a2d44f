/*
 * Inclusion and consistency proofs of RFC 9162, sections 2.1.3 and 2.1.4 (the
 * same as RFC 6962's), over a tree whose complete subtrees are read one by one,
 * and the same proofs checked.
 *
 *	struct tree t = { size, node, arg };
 *	struct merkle_proof p;
 *	if (proof_inclusion(&t, 7, &p, e) == 0)
 *		assert(proof_includes(leaf, 7, size, &p, root));
 */
#ifndef LEDGER_CHAIN_PROOF_H
#define LEDGER_CHAIN_PROOF_H

#include "ledger/base/err.h"
#include "ledger/chain/merkle.h"

/* An inclusion proof has at most 64 hashes, a consistency proof one more. */
#define PROOF_HASHES 65

struct merkle_proof {
	struct digest hashes[PROOF_HASHES];
	size_t n;
};

struct tree {
	uint64_t size;
	/* Root of the complete subtree over the leaves from index << level on,
	 * 1 << level of them; all are below size. */
	int (*node)(void *arg, unsigned level, uint64_t index, struct digest *,
	    struct err *);
	void *arg;
};

/* The root over the first `size` leaves, at most the tree's. */
int tree_root(
    const struct tree *, uint64_t size, struct digest *, struct err *);

/* That leaf `index` is in the tree; index < size. */
int proof_inclusion(
    const struct tree *, uint64_t index, struct merkle_proof *, struct err *);

/* That the tree's first `old` leaves are what they were; 0 < old <= size. */
int proof_consistency(
    const struct tree *, uint64_t old, struct merkle_proof *, struct err *);

bool proof_includes(struct digest leaf, uint64_t index, uint64_t size,
    const struct merkle_proof *, struct digest root);
bool proof_extends(uint64_t old, struct digest old_root, uint64_t size,
    struct digest root, const struct merkle_proof *);

#endif
