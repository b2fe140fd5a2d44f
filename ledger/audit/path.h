/*
 * An inclusion proof from leaves that pass once, first to last. Only the parts
 * of the tree that the proof names are kept, so the memory does not grow with
 * the ledger: at most 64 frontiers of 2 KiB.
 */
#ifndef LEDGER_AUDIT_PATH_H
#define LEDGER_AUDIT_PATH_H

#include "ledger/base/arena.h"
#include "ledger/chain/proof.h"

struct path;

/* For leaf `index` in the tree of `size` leaves; index < size. */
struct path *path_new(struct arena *, uint64_t index, uint64_t size);

/* The next leaf, from leaf 0 on; at most `size` of them. */
void path_add(struct path *, struct digest leaf);

/* After the last leaf: the tree's root and the proof. */
struct digest path_root(const struct path *);
void path_proof(const struct path *, struct merkle_proof *);

#endif
