/*
 * One batch as a git pack, checked by itself: all that a batch can show without
 * those before it. Nothing but the pack is read, and nothing is written.
 */
#ifndef LEDGER_CHAIN_PACK_CHECK_H
#define LEDGER_CHAIN_PACK_CHECK_H

#include "ledger/chain/batch.h"
#include "ledger/chain/pinned.h"
#include "ledger/store/pack_read.h"

struct pack_shown {
	const char *check; /* the failing one, as verify_report names them; NULL
			      when none did */
	bool has_seq;      /* it failed at this event */
	uint64_t seq;
	struct public_key key; /* that signed the commit */
	struct str origin;
	struct oid commit;
	uint64_t first, n; /* events */
	size_t payloads;
	uint64_t size; /* of the ledger after it */
	struct digest root, head;
	struct str checkpoint;
	/* The ledger's first batch: its key and its root hang on nothing
	 * before. */
	bool whole;
};

/*
 * Whether the pack is one batch and holds by itself: the commit, its signature
 * and trailers, every event's form, signature and place after the one before,
 * every payload, the checkpoint's signature; and where the batch changes the
 * keys, that the new key signed that it is this ledger's. Whether the key is
 * the ledger's is for the caller to judge; with `pinned` it must be one of
 * those, and the detail names another that signed. err_corrupt (or
 * err_malformed, err_too_large) with what does not hold; texts of *shown live
 * in the arena.
 */
int pack_check(struct arena *, struct str pack, const struct pinned *,
    struct pack_shown *, struct err *);

#endif
