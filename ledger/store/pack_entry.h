/*
 * The entries of a pack file (git's gitformat-pack), read from its bytes one
 * after the other.
 */
#ifndef LEDGER_STORE_PACK_ENTRY_H
#define LEDGER_STORE_PACK_ENTRY_H

#include "ledger/store/repo.h"

enum { ENTRY_OFS_DELTA = 6, ENTRY_REF_DELTA = 7 };

struct pack_entry {
	size_t at;        /* offset in the pack */
	unsigned type;    /* an object_kind, or a delta */
	size_t base_at;   /* of an offset delta */
	struct oid base;  /* of a reference delta */
	struct str bytes; /* the object, or the delta */
};

/* How many entries the pack says it has; the trailing SHA-1 is checked. */
int pack_head(struct str pack, uint32_t *n, struct err *);

/* The entry at *at, which moves on. Its bytes, in the arena, are taken off
 * *room: err_too_large when there is not enough. */
int pack_entry_read(struct str pack, size_t *at, size_t *room, struct arena *,
    struct pack_entry *, struct err *);

/* The object that the delta makes of the base. */
int pack_delta(struct str base, struct str delta, size_t *room, struct arena *,
    struct str *out, struct err *);

#endif
