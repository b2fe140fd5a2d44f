/*
 * What the files of packing share.
 */
#ifndef LEDGER_STORE_PACK_SET_H
#define LEDGER_STORE_PACK_SET_H

#include "ledger/store/pack.h"
#include "ledger/store/repo_git.h"

/* Object ids, owned. */
struct oid_list {
	struct oid *p;
	size_t n, room;
};

void oid_list_add(struct oid_list *, struct oid);
void oid_list_sort(struct oid_list *);
/* The place of the id in a sorted list; false when it is not there. */
bool oid_list_find(const struct oid_list *, struct oid, size_t *at);
void oid_list_free(struct oid_list *);

/* Every loose object, sorted. Temporary files that somebody forgot for a day
 * are removed on the way. stop as in pack_count_loose; list may be NULL. */
int loose_list(
    struct repo *, size_t stop, struct oid_list *list, size_t *n, struct err *);

/* One pack below objects/pack. */
#define PACK_NAME (OID_HEX + sizeof("pack-"))
struct pack {
	char name[PACK_NAME]; /* "pack-<40 hex>" */
	uint64_t bytes;
	uint64_t objects;
	bool superseded; /* by a join; kept for readers that have it open */
};

struct pack_list {
	struct pack *p;
	size_t n, room;
};

/* The packs that have an index, the smallest first. */
int pack_list_read(struct repo *, struct pack_list *, struct err *);
void pack_list_free(struct pack_list *);

/* An object database of these packs alone. */
git_odb *pack_odb(const struct repo *, const struct pack_list *,
    bool (*wanted)(const struct pack *), struct err *);

/* Writes one pack of the objects, syncs it and reads it back. */
int pack_build(struct repo *, const struct oid *, size_t n,
    char name[PACK_NAME], struct err *);

/* Syncs every pack, its index and the directory. */
int pack_sync_all(struct repo *, const struct pack_list *, struct err *);

/* Reads the objects from the packs, each compared with its id. */
int pack_read_back(git_odb *, const struct oid *, size_t n, struct err *);

/* Joins packs of like size while there are enough of them, and removes those
 * that were joined long enough ago. */
int pack_join(struct repo *, struct err *);

#endif
