/*
 * A git pack from a stranger, read as a repository that lies in memory: for one
 * batch, as pack_commit makes it. Deltas are undone, each object's id is made
 * from its bytes, SHA-1 collisions are refused, and nothing outside the pack is
 * looked at.
 *
 *	if (repo_open_pack(bytes, PACK_READ_MAX, &repo, &n, e) == 0)
 *		… batch_read(repo, commit, …);
 *	repo_close(repo);
 */
#ifndef LEDGER_STORE_PACK_READ_H
#define LEDGER_STORE_PACK_READ_H

#include "ledger/store/repo.h"

#define PACK_FILE_MAX     ((size_t)64 << 20)  /* bytes of a pack */
#define PACK_READ_MAX     ((size_t)256 << 20) /* of its objects together */
#define PACK_READ_OBJECTS 32768

/* What is in it. */
struct pack_contents {
	size_t n;          /* objects */
	size_t commits;    /* among them */
	struct oid commit; /* the last of these */
};

/*
 * err_corrupt for what is no pack, for one that is damaged and for one that
 * needs objects it does not hold; err_too_large when its objects have more than
 * max bytes together. The repository reads like any other and cannot be
 * written to.
 */
int repo_open_pack(struct str pack, size_t max, struct repo **,
    struct pack_contents *, struct err *);

#endif
