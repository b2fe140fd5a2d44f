/* Pages of the index for readers, from the rows in the read model. */
#include "ledger/write/index.h"
#include "ledger/write/index_rows.h"
#include "ledger/write/writer.h"

#define COMMIT_MAX (64u << 10)
#define PAGES_MAX  4096

SHAPE(ledger_indexed, "The index over all records",
    FIELD(ledger_indexed, format, .required = true,
	.doc = "How it is built: " INDEX_FORMAT));

EVENT_TYPE(ledger_indexed, "ledger.indexed", ledger_indexed,
    "From here on every commit names the root of the index over all records");

static int
project_ledger_indexed(struct db *db, const struct event *ev,
    const struct ledger_indexed *data, struct err *e)
{
	/* One of a format to come does not begin this one. */
	if (!str_is(data->format, INDEX_FORMAT))
		return 0;
	return db_run(db, e,
	    "INSERT OR IGNORE INTO ledger_indexed VALUES (1, ?)", "i",
	    (int64_t)ev->seq);
}

int
ledger_is_indexed(struct db *db, bool *out, struct err *e)
{
	return index_is_announced(db, out, e);
}

int
ledger_begin_index(struct tx *tx, struct err *e)
{
	struct ledger_indexed data = { STR(INDEX_FORMAT) };
	bool announced;

	if (index_is_announced(tx_db(tx), &announced, e))
		return -1;
	if (announced)
		return 0;
	return tx_emit(
	    tx, &event_ledger_indexed, "ledger", tx_uid(tx), &data, NULL, 0, e);
}

/* A page that is wanted: the rows of a level from one key to below another. */
struct wanted {
	int64_t level;
	struct str from, end;
};

struct proving {
	struct reading *r;
	struct arena *a;
	struct str from, to; /* the range */
	struct wanted *wanted;
	struct str *pages;
	size_t n;
	struct err *e;
};

static int
want(struct proving *p, int64_t level, struct str from, struct str end)
{
	if (p->n == PAGES_MAX)
		return err_set(p->e, &err_too_large,
		    "the index of so many records is too long for one reply");
	p->wanted[p->n++] = (struct wanted){ level, from, end };
	return 0;
}

/* The row before opens a page that ends where the next row is. */
static int
want_below(struct proving *p, int64_t level, struct str from, struct str end)
{
	if (!from.p || str_cmp(from, p->to) > 0 || str_cmp(end, p->from) <= 0)
		return 0;
	return want(p, level - 1, from, end);
}

static int
read_rows(
    struct proving *p, const struct wanted *w, struct rows *r, struct buf *page)
{
	struct str before = STR_NONE;
	int rc;

	index_page_begin(page, (unsigned)w->level);
	while ((rc = rows_next(r, p->e)) == 1) {
		struct str key = rows_str(r, 0, p->a);

		if (w->level == 0) {
			index_page_add_record(page, key,
			    (uint64_t)rows_int(r, 1), rows_digest(r, 2));
			continue;
		}
		index_page_add_page(page, key, rows_digest(r, 2));
		if (want_below(p, w->level, before, key))
			return -1;
		before = key;
	}
	return rc < 0 ? -1 : want_below(p, w->level, before, w->end);
}

static int
read_page(struct proving *p, size_t at)
{
	struct wanted w = p->wanted[at];
	struct rows r;
	struct buf page;
	int rc;

	if (db_query(p->r->db, &r, p->e,
		"SELECT key, count, hash FROM ledger_index WHERE level = ?"
		" AND key >= ? AND key < ? ORDER BY key",
		"iss", w.level, w.from, w.end))
		return -1;
	buf_init(&page, INDEX_PAGE_MAX);
	rc = read_rows(p, &w, &r, &page);
	p->pages[at] = arena_str(p->a, buf_str(&page));
	buf_fini(&page);
	return rows_end(&r, p->e) ? -1 : rc;
}

/* The topmost page lies below the highest level, where the head is alone. */
static int
read_pages(struct proving *p)
{
	int64_t top;

	if (db_get_int(p->r->db, &top, 1, p->e,
		"SELECT level FROM ledger_index ORDER BY level DESC LIMIT 1",
		"") ||
	    want(p, top - 1, STR(""), STR("~")))
		return -1;
	for (size_t i = 0; i < p->n; i++)
		if (read_page(p, i))
			return -1;
	return 0;
}

static int
read_commit(
    struct reading *r, struct arena *a, struct index_proof *out, struct err *e)
{
	struct position at;
	struct batch b;
	bool announced;

	if (index_is_announced(r->db, &announced, e))
		return -1;
	if (!announced)
		return err_set(e, &err_conflict,
		    "the ledger has no index yet; probity-worker begins it "
		    "within a minute");
	if (position_load(r->db, &at, e) ||
	    repo_read(r->repo, at.commit, OBJECT_COMMIT, COMMIT_MAX, a,
		&out->commit, e) ||
	    batch_read(r->repo, at.commit, a, &b, e))
		return -1;
	out->size = at.size;
	out->checkpoint = b.checkpoint;
	return 0;
}

int
ledger_read_index(struct reading *r, const struct index_range *range,
    struct arena *a, struct index_proof *out, struct err *e)
{
	struct proving p = {
		.r = r,
		.a = a,
		.from = str_from(range->from),
		.to = str_from(range->to),
		.wanted = arena_array(a, PAGES_MAX, sizeof *p.wanted),
		.pages = arena_array(a, PAGES_MAX, sizeof *p.pages),
		.e = e,
	};

	if (read_commit(r, a, out, e) || read_pages(&p))
		return -1;
	out->pages = p.pages;
	out->n = p.n;
	return 0;
}

static bool
record_from(const struct rows *r, struct index_record *out)
{
	struct str key = rows_borrow(r, 0);

	out->events = rows_int(r, 1);
	out->chain = rows_digest(r, 2);
	return key.n > UID_TEXT &&
	       uid_parse(str_slice(key, key.n - UID_TEXT, key.n), &out->uid);
}

int
ledger_read_records(struct reading *reading, const struct index_range *range,
    size_t max, struct arena *a, struct index_record **out, size_t *n,
    struct err *e)
{
	struct rows r;
	int rc = 0;

	*out = arena_array(a, max, sizeof **out);
	*n = 0;
	if (db_query(reading->db, &r, e,
		"SELECT key, count, hash FROM ledger_index WHERE level = 0"
		" AND key >= ? AND key <= ? ORDER BY key LIMIT ?",
		"ssi", str_from(range->from), str_from(range->to),
		(int64_t)max))
		return -1;
	while (*n < max && (rc = rows_next(&r, e)) == 1) {
		if (!record_from(&r, &(*out)[(*n)++])) {
			rc = err_set(e, &err_view_damaged,
			    "read model: a row of the index is no record's");
			break;
		}
	}
	return rows_end(&r, e) || rc < 0 ? -1 : 0;
}
