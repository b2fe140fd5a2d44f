/*
 * Looking at what lies on the disk: every byte of a pack and of its index, and
 * each object by its id, held to their checksums. What the kernel has in
 * memory is dropped first where it lets us, so that the disk is asked and not
 * the cache, and dropped again after. Nothing here takes the turn.
 *
 * And what a repair needs: packs that are not to be read from, and are put
 * aside once nothing depends on them.
 *
 *	struct inspection seen;
 *	if (inspect_object(repo, oid, OBJECT_BLOB, max, &meter, a, &seen, e))
 *		return -1;
 *	if (!seen.readable) …
 */
#ifndef LEDGER_STORE_INSPECT_H
#define LEDGER_STORE_INSPECT_H

#include "ledger/store/repo.h"

/* Told of bytes that were read; it may sleep. Not 0: go no further. NULL call:
 * nobody asks. */
struct meter {
	int (*call)(void *, uint64_t bytes);
	void *arg;
};

/* "pack-<40 hex>" and a NUL. */
#define INSPECT_PACK_NAME (OID_HEX + 6)

struct pack_names {
	char (*p)[INSPECT_PACK_NAME];
	size_t n, room;
};

void pack_names_add(struct pack_names *, const char *name);
bool pack_names_have(const struct pack_names *, const char *name);
void pack_names_free(struct pack_names *);

/* Every pack whose file and index are both there, whole or not, by name. */
int inspect_list_packs(const struct repo *, struct pack_names *, struct err *);

struct pack_inspection {
	bool absent;  /* it is gone, as joined packs go */
	bool stopped; /* by the meter: nothing was found out */
	bool damaged;
	char what[96]; /* of the damage, for people */
	uint64_t objects, bytes;
};

/* Holds one pack and its index to their checksums, to each other, and every
 * entry to its CRC. -1 only when it could not be found out. */
int inspect_pack(struct repo *, const char *name, const struct meter *,
    struct pack_inspection *, struct err *);

/* One object, in a file of its own and in packs. */
struct inspection {
	bool readable;      /* a copy is whole: bytes are set */
	bool there;         /* a copy is there, whole or not */
	bool loose_damaged; /* its own file is there, and not whole */
	struct str bytes;
};

/* A copy that claims more than max bytes is a damaged one: nothing here was
 * written so. -1 only when it could not be found out. */
int inspect_object(struct repo *, struct oid, enum object_kind, size_t max,
    const struct meter *, struct arena *, struct inspection *, struct err *);

/* Reads of this repo pass these packs over, from now on. The names stay the
 * caller's and unchanged. */
int inspect_pass_over(struct repo *, const struct pack_names *, struct err *);

/* Nobody packs, joins or removes packs meanwhile; waits for who does. */
int packs_lock(struct repo *, int *lock, struct err *);
void packs_unlock(int lock);

/* Moves packs with their indexes into the folder `damaged` of the repository,
 * or back from it, durably. With packs_lock. */
int packs_put_aside(struct repo *, const struct pack_names *, struct err *);
int packs_put_back(struct repo *, const struct pack_names *, struct err *);

#endif
