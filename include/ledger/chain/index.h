/*
 * The index over all records (docs/ledger-format.md, "The index"): one entry
 * for each record that any event is about, sorted, in pages that are text and
 * are named by their SHA-256. The commit's trailer Ledger-Index is the hash of
 * the topmost page, so a few pages show that a record is there, that none is,
 * and that a list leaves nothing out.
 *
 * Which pages there are follows from the entries alone, never from the order in
 * which they came.
 *
 *	if (index_proof_check(a, root, pages, n, &range, &found, &n_found, e))
 *		… not what the ledger's key signed …
 */
#ifndef LEDGER_CHAIN_INDEX_H
#define LEDGER_CHAIN_INDEX_H

#include "ledger/base/arena.h"
#include "ledger/base/buf.h"
#include "ledger/base/err.h"
#include "ledger/base/uid.h"
#include "ledger/crypto/hash.h"

#define INDEX_FORMAT  "probity-index/v1"
#define INDEX_TRAILER "Ledger-Index"
#define TYPE_INDEXED  "ledger.indexed"
#define INDEX_DATA    "{\"format\":\"" INDEX_FORMAT "\"}" /* of that event */

#define INDEX_KIND_MAX 64
#define INDEX_KEY_MAX  (INDEX_KIND_MAX + 1 + UID_TEXT)
#define INDEX_HEIGHTS  52        /* 0 to 51: 256 bits have 51 groups of 5 */
#define INDEX_PAGE_MAX (1 << 20) /* bytes of a page that are read */

/* "<kind> <uid>", the key of a record; NUL after it. */
struct index_key {
	char p[INDEX_KEY_MAX + 1];
	size_t n;
};

/* err_invalid when the kind is no word of at most INDEX_KIND_MAX bytes. */
int index_key_set(
    struct index_key *, struct str kind, struct uid, struct err *);
struct str index_key_str(const struct index_key *);

/* On how many levels above 0 the key has a row: the leading groups of five zero
 * bits of SHA-256(key). */
unsigned index_height(struct str key);

/* What one event does to the index: its record has one event more. */
struct index_event {
	struct str kind;
	struct uid subject;
	struct digest hash; /* of the event */
};

/* The chain of a record's event hashes goes on by one; it begins as zeros. */
struct digest index_chain_next(struct digest chain, struct digest event);

/* Writing a page: its first line, then its rows in order. */
void index_page_begin(struct buf *, unsigned level);
/* A record, on level 0. */
void index_page_add_record(
    struct buf *, struct str key, uint64_t count, struct digest chain);
/* A page of the level below, on the others. The head's key is empty. */
void index_page_add_page(struct buf *, struct str key, struct digest page);

/* The root of an index without entries. */
struct digest index_empty(void);

struct index_row {
	struct str key;     /* empty: the head */
	uint64_t count;     /* level 0 */
	struct digest hash; /* level 0: the chain; else of the page below */
};
struct index_page {
	unsigned level;
	const struct index_row *rows;
	size_t n;
};

/* Exactly what the functions above write, rows rising; err_malformed. Keys are
 * borrowed from the text. */
int index_page_parse(
    struct arena *, struct str text, struct index_page *, struct err *);

/*
 * The records whose keys lie in [from, to], bytewise. Neither need be a key:
 * index_range_of_kind gives all of one kind.
 */
struct index_range {
	char from[INDEX_KEY_MAX + 2], to[INDEX_KEY_MAX + 2];
};

/* A record of a kind alone; err_invalid as index_key_set. */
int index_range_of_record(
    struct index_range *, struct str kind, struct uid, struct err *);
/* Those of a kind above `after`, up to `to` with it; none of either: from the
 * first, to the last. */
int index_range_of_kind(struct index_range *, struct str kind, struct uid after,
    struct uid to, struct err *);

/*
 * Whether the pages are those of the index with that root that cover the
 * range: the topmost, then level by level down, by rising keys, each one that
 * reaches into the range and no other. Gives the rows of the range, and so all
 * of its records. err_malformed for a page that is none, err_corrupt for one
 * that does not belong there, or is missing.
 */
int index_proof_check(struct arena *, struct digest root,
    const struct str *pages, size_t n, const struct index_range *,
    const struct index_row **rows, size_t *n_rows, struct err *);

#endif
