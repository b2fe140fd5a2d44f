/* Whether pages are those of an index, and what they say of a range. */
#include <string.h>

#include "ledger/chain/index.h"

/* A page that must come: which one, and what its rows lie between. */
struct expected {
	struct digest hash;
	struct str low;  /* the key that opens it; empty: the head */
	struct str high; /* its rows lie below; no value: no bound */
	unsigned level;
};

struct check {
	struct arena *a;
	struct str from, to;
	struct expected *expected;
	size_t n, room;
	struct index_row *found;
	size_t n_found, room_found;
	struct err *e;
};

static int
bad(struct check *c, size_t page, const char *what)
{
	return err_set(
	    c->e, &err_corrupt, "page %zu of the index %s", page + 1, what);
}

/* A row other than the one that opens the page would open one itself if it
 * were higher, and would not be here if it were lower. */
static int
check_rows(struct check *c, size_t at, const struct index_page *p)
{
	const struct expected *x = &c->expected[at];
	bool opened = x->low.n > 0 || p->level > 0;

	if (opened && (p->n == 0 || !str_eq(p->rows[0].key, x->low)))
		return bad(c, at, "does not begin with the key that opens it");
	for (size_t i = opened; i < p->n; i++)
		if (index_height(p->rows[i].key) != p->level)
			return bad(c, at, "has a row of another level");
	if (p->n > 0 && x->high.p &&
	    str_cmp(p->rows[p->n - 1].key, x->high) >= 0)
		return bad(c, at, "reaches into the next one");
	return 0;
}

static void
add_found(struct check *c, const struct index_row *row)
{
	if (c->n_found == c->room_found) {
		struct index_row *more;

		c->room_found = 2 * c->room_found + 64;
		more = arena_array(c->a, c->room_found, sizeof *more);
		if (c->n_found > 0)
			memcpy(more, c->found, c->n_found * sizeof *more);
		c->found = more;
	}
	c->found[c->n_found++] = *row;
}

static void
take_records(struct check *c, const struct index_page *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_cmp(p->rows[i].key, c->from) >= 0 &&
		    str_cmp(p->rows[i].key, c->to) <= 0)
			add_found(c, &p->rows[i]);
}

/* The pages below that reach into the range are to come. */
static int
expect_below(struct check *c, size_t at, const struct index_page *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct str high =
		    i + 1 < p->n ? p->rows[i + 1].key : c->expected[at].high;

		if (str_cmp(p->rows[i].key, c->to) > 0 ||
		    (high.p && str_cmp(high, c->from) <= 0))
			continue;
		if (c->n == c->room)
			return err_set(c->e, &err_corrupt,
			    "a page of the index is missing");
		c->expected[c->n++] = (struct expected){ p->rows[i].hash,
			p->rows[i].key, high, p->level - 1 };
	}
	return 0;
}

static int
take_page(struct check *c, size_t at, struct str text)
{
	struct index_page p;

	if (at == c->n)
		return bad(c, at, "is one too many");
	if (!digest_eq(sha256(text), c->expected[at].hash))
		return bad(c, at,
		    at == 0 ? "is not the one that the commit names"
			    : "is not the one that the page above it names");
	if (index_page_parse(c->a, text, &p, c->e))
		return -1;
	if (at > 0 && p.level != c->expected[at].level)
		return bad(c, at, "is of another level");
	if (at == 0 && p.level > 0 && p.n < 2)
		return bad(c, at, "is not the topmost");
	if (check_rows(c, at, &p))
		return -1;
	if (p.level > 0)
		return expect_below(c, at, &p);
	take_records(c, &p);
	return 0;
}

int
index_proof_check(struct arena *a, struct digest root, const struct str *pages,
    size_t n, const struct index_range *range, const struct index_row **rows,
    size_t *n_rows, struct err *e)
{
	struct check c = {
		.a = a,
		.from = str_from(range->from),
		.to = str_from(range->to),
		.expected = arena_array(a, n + 1, sizeof *c.expected),
		.n = 1,
		.room = n,
		.e = e,
	};

	c.expected[0] = (struct expected){ root, STR(""), STR_NONE, 0 };
	for (size_t i = 0; i < n; i++)
		if (take_page(&c, i, pages[i]))
			return -1;
	if (c.n != n)
		return err_set(
		    e, &err_corrupt, "a page of the index is missing");
	*rows = c.found;
	*n_rows = c.n_found;
	return 0;
}
