/*
 * A ledger's repository with what is known of it beside: the key, and the read
 * model's list of batches, which tells what has to be there even where a
 * commit cannot be read.
 */
#ifndef LEDGER_WRITE_STORAGE_H
#define LEDGER_WRITE_STORAGE_H

#include "ledger/chain/recheck.h"
#include "ledger/write/scrub.h"
#include "ledger/write/writer.h"

struct batch_ref {
	struct oid commit;
	uint64_t first, count;
};

struct storage {
	const struct ledger_options *o;
	struct arena *a;
	char *path;
	struct public_key key; /* of signing.key */
	struct signers keys;   /* that signed batches, as far as is known */
	struct repo *repo;

	/* From the read model, if there is one. */
	struct db *db;
	bool has_view;
	struct position view;

	struct batch_ref *batches; /* oldest first */
	size_t n, room;
};

/* Through connections of its own; the batches are those of the read model. */
int storage_open(const struct ledger_options *, struct storage *, struct err *);
void storage_close(struct storage *);

/* Adds the batches from the last that is listed to the commit, which without a
 * read model are all, as far as `read` gives them. Its 0 ends the list there:
 * *whole is false then. */
struct commit_source {
	int (*read)(void *, struct oid, struct arena *, struct commit *,
	    struct err *); /* 1, 0 when it is not to be had, -1 */
	void *arg;
};
int storage_walk(struct storage *, struct oid tip, const struct commit_source *,
    bool *whole, struct err *);

uint64_t storage_size(const struct storage *);

/* The batch with this commit, or NULL. */
const struct batch_ref *storage_find(const struct storage *, struct oid);

/* Whether the branch names what it should: 1 and *tip; 0 and the damage; -1. */
int storage_branch(
    struct storage *, struct oid *tip, struct damage *, struct err *);

/* The ledger's origin, as a batch that can be read says; the options' else. */
struct str storage_origin(struct storage *);

#endif
