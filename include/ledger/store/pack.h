/*
 * Packing: many small loose objects become one pack, while readers and writers
 * go on. The pack, its index and the directory are synced, and the pack is
 * read back, before a loose copy goes; loose copies go in short slices, each
 * under the turn. Fan-out directories stay. Packs are joined geometrically, so
 * there are never more than PACK_MAX. A joined pack stays for a while after the
 * larger one is there, for readers that have it open.
 *
 * `git clone` and every other reader that looks an object up may run beside it.
 * `git fsck` of the live repository may not: it lists loose files first and
 * packs at another moment, and calls missing what moved in between, as beside
 * stock git's own packing. A clone can be checked at any time.
 */
#ifndef LEDGER_STORE_PACK_H
#define LEDGER_STORE_PACK_H

#include "ledger/store/repo.h"
#include "ledger/store/turn.h"

#define PACK_MAX 50

/* Counts loose objects, stopping at `stop`. */
int pack_count_loose(struct repo *, size_t stop, size_t *n, struct err *);

/*
 * Packs the loose objects reachable from the branch, at most `limit` in one
 * call, then joins packs where the rule asks for it. Called without the turn.
 */
int pack_loose(
    struct repo *, struct turn *, size_t limit, size_t *packed, struct err *);

int pack_count(struct repo *, size_t *n, struct err *);

/*
 * One commit, its tree and everything in it as a pack in the arena, for `git
 * unpack-objects`; the commit's parent is not in it. err_too_large when the
 * objects have more than max bytes together. The same objects give the same
 * bytes.
 */
int pack_commit(struct repo *, struct oid commit, size_t max, struct arena *,
    struct str *out, struct err *);

#endif
