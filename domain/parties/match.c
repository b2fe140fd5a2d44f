/* Counterparties by what a document calls them. */
#include <stdlib.h>

#include "domain/content.h"
#include "domain/parties.h"

struct named {
	struct str text;
	int64_t id;
	struct uid key; /* none: the text was recorded in clear */
};

/* Sorted by text. */
struct names {
	struct named *items;
	size_t n, room;
};

struct counterparty_names {
	struct names accounts, names;
	int64_t last_id;
};

static void
add(struct arena *a, struct names *to, struct named item)
{
	if (to->n == to->room) {
		size_t room = to->room ? 2 * to->room : 256;
		struct named *items = arena_array(a, room, sizeof *items);

		for (size_t i = 0; i < to->n; i++)
			items[i] = to->items[i];
		to->items = items;
		to->room = room;
	}
	to->items[to->n++] = item;
}

static int
by_text(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = str_cmp(x->text, y->text);

	if (order != 0)
		return order;
	return (x->id > y->id) - (x->id < y->id);
}

static void
sort(struct names *names)
{
	if (names->n > 0)
		qsort(names->items, names->n, sizeof *names->items, by_text);
}

/* 1, 0 when they are erased, -1. */
static int
read_texts(struct context *c, const struct rows *r, struct str *name,
    struct str *account, struct err *e)
{
	struct uid subject = rows_uid(r, 1);
	struct content_key key;
	struct erasure erasure;
	int found;

	*name = rows_str(r, 2, c->arena);
	*account = rows_str(r, 3, c->arena);
	if (rows_is_null(r, 6))
		return 1;
	found = content_find(c, rows_uid(r, 6), &key, &erasure, e);
	if (found == 1 && (content_open(c, &key, subject, "name",
			       rows_str(r, 4, c->arena), name, e) ||
			      content_open(c, &key, subject, "account",
				  rows_str(r, 5, c->arena), account, e)))
		found = -1;
	content_end(&key);
	return found;
}

static int
read_one(struct context *c, const struct rows *r,
    struct counterparty_names *out, struct err *e)
{
	struct str name, account;
	struct uid key = rows_uid(r, 6);
	int found = read_texts(c, r, &name, &account, e);

	if (found < 0)
		return -1;
	out->last_id = rows_int(r, 0);
	if (found == 0)
		return 0;
	add(c->arena, &out->names, (struct named){ name, out->last_id, key });
	add(c->arena, &out->accounts,
	    (struct named){ account, out->last_id, key });
	return 0;
}

int
counterparty_names_update(
    struct context *c, struct counterparty_names *names, struct err *e)
{
	int64_t before = names->last_id;
	struct rows r;
	int rc = 0;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, name, account, name_box, account_box,"
		" content_key FROM counterparty WHERE id > ? ORDER BY id",
		"i", before))
		return -1;
	while (rc == 0 && rows_next(&r, e) == 1)
		rc = read_one(c, &r, names, e);
	if (rows_end(&r, e) || rc)
		return -1;
	if (names->last_id > before) {
		sort(&names->accounts);
		sort(&names->names);
	}
	return 0;
}

int
counterparty_names_read(
    struct context *c, struct counterparty_names **out, struct err *e)
{
	struct reading reading;
	int rc;

	*out = ARENA_NEW(c->arena, struct counterparty_names);
	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	c->db = reading.db;
	rc = counterparty_names_update(c, *out, e);
	ledger_read_end(&reading);
	c->db = NULL;
	return rc;
}

/* The first that is not before the text. */
static size_t
lower_bound(const struct names *names, struct str text)
{
	size_t from = 0, to = names->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (str_cmp(names->items[middle].text, text) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Those erased since the names were read do not count. */
static int
find_only(struct context *c, const struct names *names, struct str text,
    int64_t *id, struct err *e)
{
	size_t n = 0;

	if (!text.p)
		return 0;
	for (size_t i = lower_bound(names, text);
	     i < names->n && n < 2 && str_eq(names->items[i].text, text); i++) {
		struct erasure erasure;
		int erased =
		    erasure_find(c->db, names->items[i].key, &erasure, e);

		if (erased < 0)
			return -1;
		if (erased == 1)
			continue;
		*id = names->items[i].id;
		n++;
	}
	return n == 1;
}

/* The only one with this LEI, which is nobody's secret. */
static int
find_lei(struct context *c, struct str lei, int64_t *id, struct err *e)
{
	struct rows r;
	int n = 0, state;

	if (!lei.p)
		return 0;
	if (db_query(c->db, &r, e,
		"SELECT id FROM counterparty WHERE lei = ? LIMIT 2", "s", lei))
		return -1;
	while ((state = rows_next(&r, e)) == 1) {
		*id = rows_int(&r, 0);
		n++;
	}
	return rows_end(&r, e) || state < 0 ? -1 : n == 1;
}

int
counterparty_match(struct context *c, const struct counterparty_names *names,
    struct str account, struct str lei, struct str name, int64_t *id,
    struct err *e)
{
	int found = find_only(c, &names->accounts, account, id, e);

	if (found == 0)
		found = find_lei(c, lei, id, e);
	if (found == 0)
		found = find_only(c, &names->names, name, id, e);
	return found;
}
