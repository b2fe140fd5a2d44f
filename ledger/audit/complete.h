/*
 * Whether a list that was asked with proof=complete is complete: the service's
 * reply as a file, or the pages of one list as several, held against the
 * pinned key. Nothing but the files and the key is needed.
 */
#ifndef LEDGER_AUDIT_COMPLETE_H
#define LEDGER_AUDIT_COMPLETE_H

#include "ledger/chain/batch.h"
#include "ledger/chain/pinned.h"

/* One reply. Strings live in the arena. */
struct complete_file {
	const struct json *data; /* the items */
	bool has_more;
	struct str kind;
	struct uid subject;   /* none: a list of records, */
	struct uid after, to; /* above the one, up to the other */
	struct str origin;
	uint64_t size;
	struct digest root;           /* of the index */
	struct digest tree;           /* of the events */
	const struct index_row *rows; /* what is there in that range */
	size_t n_rows;
};

/* Why not: "format", "commit", "index" or "records"; for a key that is none,
 * a file that cannot be read and the like NULL. */
struct complete_fault {
	const char *check;
};

/* Reads one, checks that its commit is by one of the keys, its checkpoint by
 * the same, and its pages the commit's. */
int complete_read(struct arena *, const char *path, const struct pinned *,
    struct complete_file *, struct complete_fault *, struct err *);

#define COMPLETE_UNCHECKED_MAX 32

/* What all of them show together. */
struct complete_shown {
	const struct complete_file *files;
	size_t n;
	/* Of events the last file's, which covers them all. Of records the one
	 * that all files have; 0 when they have several: then each is complete
	 * for its own, and nothing here shows that these continue each other.
	 */
	uint64_t size;
	uint64_t records; /* or events */
	/* The items' members that nothing in the files shows. */
	struct str unchecked[COMPLETE_UNCHECKED_MAX];
	size_t n_unchecked;
};

/* Whether the items of all files, in this order, are exactly what the index
 * has. */
int complete_compare(const struct complete_file *, size_t n,
    struct complete_shown *, struct complete_fault *, struct err *);

/* Bank statements are listed without their events; then the index has nothing
 * to compare with them but their identifiers. */
bool complete_is_bare(const struct complete_file *);
bool complete_has_no_events(const struct json *item);

/* Adds the names of the items' members that are not compared. */
void complete_find_unchecked(
    struct complete_shown *, const struct complete_file *);

#endif
