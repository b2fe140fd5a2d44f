/*
 * Whether a list that was asked with proof=complete is complete: the service's
 * reply as a file, or the pages of one list as several, held against the
 * pinned key. Nothing but the files and the key is needed.
 */
#ifndef LEDGER_AUDIT_COMPLETE_H
#define LEDGER_AUDIT_COMPLETE_H

#include "ledger/chain/batch.h"

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
	const struct index_row *rows; /* what is there in that range */
	size_t n_rows;
};

/* Why not: "format", "commit", "index" or "records"; for a key that is none,
 * a file that cannot be read and the like NULL. */
struct complete_fault {
	const char *check;
};

/* Reads one, checks that its commit is the key's and its pages the commit's. */
int complete_read(struct arena *, const char *path, struct public_key,
    struct complete_file *, struct complete_fault *, struct err *);

/* What all of them show together. */
struct complete_shown {
	struct complete_file first, last;
	uint64_t size;    /* it holds for: the smallest of the files' */
	uint64_t records; /* or events */
};

/* Whether the items of all files, in this order, are exactly what the index
 * has. */
int complete_compare(const struct complete_file *, size_t n,
    struct complete_shown *, struct complete_fault *, struct err *);

#endif
