#include "ledger/write/index_rows.h"

#include <stdlib.h>

/* Above every key. */
#define END STR("~")

/* A row of a level that the batch changed, or put there. */
struct change {
	struct str key; /* empty: the head */
	bool added;
	unsigned height; /* of one that was added */
};

/* The changes of one level, by rising keys; room for two an event, since a new
 * row changes the page before it too. */
struct keeper {
	struct db *db;
	struct arena *a;
	struct change *changes;
	size_t n;
	struct buf page;
	struct err *e;
};

struct index_event
index_event_of(const struct event *ev)
{
	return (struct index_event){ ev->subject_kind, ev->subject, ev->hash };
}

int
index_is_announced(struct db *db, bool *out, struct err *e)
{
	int64_t n;

	if (db_get_int(db, &n, 0, e, "SELECT 1 FROM ledger_indexed", ""))
		return -1;
	*out = n > 0;
	return 0;
}

/* An event with its key, to be sorted. */
struct keyed {
	struct str key;
	const struct index_event *event;
};

static int
compare(const void *p, const void *q)
{
	const struct keyed *x = p, *y = q;
	int c = str_cmp(x->key, y->key);

	return c ? c : (x->event > y->event) - (x->event < y->event);
}

static int
sort_by_key(struct keeper *k, const struct index_event *events, size_t n,
    struct keyed **out)
{
	struct keyed *sorted = arena_array(k->a, n, sizeof *sorted);

	for (size_t i = 0; i < n; i++) {
		struct index_key *key = ARENA_NEW(k->a, struct index_key);

		if (index_key_set(key, events[i].kind, events[i].subject, k->e))
			return -1;
		sorted[i] = (struct keyed){ index_key_str(key), &events[i] };
	}
	qsort(sorted, n, sizeof *sorted, compare);
	*out = sorted;
	return 0;
}

static int
read_record(
    struct keeper *k, struct str key, int64_t *count, struct digest *chain)
{
	struct rows r;

	*count = 0;
	*chain = (struct digest){ 0 };
	if (db_query(k->db, &r, k->e,
		"SELECT count, hash FROM ledger_index WHERE level = 0"
		" AND key = ?",
		"s", key))
		return -1;
	if (rows_next(&r, k->e) == 1) {
		*count = rows_int(&r, 0);
		*chain = rows_digest(&r, 1);
	}
	return rows_end(&r, k->e);
}

static int
put_row(struct keeper *k, unsigned level, struct str key, int64_t count,
    struct digest hash)
{
	return db_run(k->db, k->e,
	    "INSERT OR REPLACE INTO ledger_index VALUES (?, ?, ?, ?)", "isid",
	    (int64_t)level, key, count, hash);
}

/* Goes on from a record's chain by its events, which stand together. */
static struct digest
chain_on(struct digest chain, const struct keyed *first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		chain = index_chain_next(chain, first[i].event->hash);
	return chain;
}

/* Most records are new: whether one is, the insertion tells. */
static int
add_record(struct keeper *k, const struct keyed *first, size_t n)
{
	struct change *change = &k->changes[k->n++];
	struct digest chain = { 0 };
	int64_t count;

	*change = (struct change){ .key = first->key };
	if (db_run(k->db, k->e,
		"INSERT OR IGNORE INTO ledger_index VALUES (0, ?, ?, ?)", "sid",
		first->key, (int64_t)n, chain_on(chain, first, n)))
		return -1;
	if (db_changes(k->db) == 1) {
		change->added = true;
		change->height = index_height(first->key);
		return 0;
	}
	if (read_record(k, first->key, &count, &chain))
		return -1;
	return put_row(
	    k, 0, first->key, count + (int64_t)n, chain_on(chain, first, n));
}

static int
add_records(struct keeper *k, const struct index_event *events, size_t n)
{
	struct keyed *sorted;
	size_t same;

	if (sort_by_key(k, events, n, &sorted))
		return -1;
	for (size_t i = 0; i < n; i += same) {
		for (same = 1; i + same < n &&
			       str_eq(sorted[i + same].key, sorted[i].key);)
			same++;
		if (add_record(k, sorted + i, same))
			return -1;
	}
	return 0;
}

/* The last row of the level at or before a key. Without one the level is new,
 * and gets its head. */
static int
find_opener(struct keeper *k, unsigned level, struct str key, struct str *out)
{
	struct rows r;
	int found;

	*out = STR("");
	if (db_query(k->db, &r, k->e,
		"SELECT key FROM ledger_index WHERE level = ? AND key <= ?"
		" ORDER BY key DESC LIMIT 1",
		"is", (int64_t)level, key))
		return -1;
	found = rows_next(&r, k->e);
	if (found == 1)
		*out = rows_str(&r, 0, k->a);
	if (rows_end(&r, k->e) || found < 0)
		return -1;
	return found ? 0 : put_row(k, level, *out, 0, (struct digest){ 0 });
}

static int
find_next(struct keeper *k, unsigned level, struct str key, struct str *out)
{
	struct rows r;

	*out = END;
	if (db_query(k->db, &r, k->e,
		"SELECT key FROM ledger_index WHERE level = ? AND key > ?"
		" ORDER BY key LIMIT 1",
		"is", (int64_t)level, key))
		return -1;
	if (rows_next(&r, k->e) == 1)
		*out = rows_str(&r, 0, k->a);
	return rows_end(&r, k->e);
}

/* Rows for those new ones that are high enough. Where one parts a page that
 * nothing else has changed, that page is changed too. */
static int
raise_rows(struct keeper *k, unsigned level)
{
	struct change *all = arena_array(k->a, 2 * k->n, sizeof *all);
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		const struct change *c = &k->changes[i];
		struct str opener;

		if (c->added && c->height >= level) {
			if (find_opener(k, level, c->key, &opener) ||
			    put_row(k, level, c->key, 0, (struct digest){ 0 }))
				return -1;
			if (n == 0 || str_cmp(all[n - 1].key, opener) < 0)
				all[n++] = (struct change){ .key = opener };
		}
		all[n++] = *c;
	}
	k->changes = all;
	k->n = n;
	return 0;
}

static int
read_page(struct keeper *k, unsigned level, struct str from, struct str end)
{
	struct rows r;

	if (db_query(k->db, &r, k->e,
		"SELECT key, count, hash FROM ledger_index WHERE level = ?"
		" AND key >= ? AND key < ? ORDER BY key",
		"iss", (int64_t)level, from, end))
		return -1;
	buf_reset(&k->page);
	index_page_begin(&k->page, level);
	while (rows_next(&r, k->e) == 1)
		if (level == 0)
			index_page_add_record(&k->page, rows_borrow(&r, 0),
			    (uint64_t)rows_int(&r, 1), rows_digest(&r, 2));
		else
			index_page_add_page(
			    &k->page, rows_borrow(&r, 0), rows_digest(&r, 2));
	if (rows_end(&r, k->e))
		return -1;
	if (buf_failed(&k->page))
		return err_set(k->e, &err_internal,
		    "a page of the index is longer than %d bytes",
		    INDEX_PAGE_MAX);
	return 0;
}

/* Hashes the pages that the level's rows open, as far as they changed, and
 * leaves these rows as the changes. *alone: the head is the only row. */
static int
hash_pages(struct keeper *k, unsigned level, bool *alone, struct digest *hash)
{
	size_t i = 0, n = 0;

	while (i < k->n) {
		struct change c = k->changes[i];
		struct str opener, end;

		if (find_opener(k, level, c.key, &opener) ||
		    find_next(k, level, opener, &end) ||
		    read_page(k, level - 1, opener, end))
			return -1;
		*hash = sha256(buf_str(&k->page));
		if (put_row(k, level, opener, 0, *hash))
			return -1;
		*alone = opener.n == 0 && str_eq(end, END);
		while (i < k->n && str_cmp(k->changes[i].key, end) < 0)
			i++;
		if (!str_eq(opener, c.key))
			c = (struct change){ .key = opener };
		k->changes[n++] = c;
	}
	k->n = n;
	return 0;
}

int
index_rows_add(struct db *db, const struct index_event *events, size_t n,
    struct arena *a, struct digest *root, struct err *e)
{
	struct keeper k = {
		.db = db,
		.a = a,
		.changes = arena_array(a, n, sizeof *k.changes),
		.e = e,
	};
	bool alone = false;
	int rc;

	buf_init(&k.page, INDEX_PAGE_MAX);
	rc = add_records(&k, events, n);
	for (unsigned level = 1; rc == 0 && !alone; level++) {
		rc = raise_rows(&k, level);
		if (rc == 0)
			rc = hash_pages(&k, level, &alone, root);
	}
	buf_fini(&k.page);
	return rc;
}
