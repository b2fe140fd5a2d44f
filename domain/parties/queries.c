/*
 * connector list, counterparty list and show, arrangement list
 */
#include "domain/content.h"
#include "domain/parties/group.h"
#include "domain/parties/records.h"

struct parties_query {
	int64_t limit, after_id;
};

struct counterparty_id {
	int64_t id;
};

/* clang-format off */
SHAPE(counterparty_id, "One counterparty",
	FIELD(counterparty_id, id, .required = true, .min = 1, .doc = "Its number"));
SHAPE(parties_query, "Which part of the list",
	PAGE_QUERY(parties_query));
PAGE_SHAPE(connector_page, "Connectors", connector_record_shape);
PAGE_SHAPE(counterparty_page, "Counterparties", counterparty_record_shape);
PAGE_SHAPE(arrangement_page, "Arrangements", arrangement_record_shape);
/* clang-format on */

LIST_OPERATION(connector_list, parties_query, connector_page,
    .id = "connector.list", .command = "connector list",
    .product = "Financial Actions", .summary = "List the connectors");
LIST_OPERATION(counterparty_list, parties_query, counterparty_page,
    .id = "counterparty.list", .command = "counterparty list",
    .product = "Financial Actions", .summary = "List the counterparties");
READ_OPERATION(counterparty_show, counterparty_id, counterparty_record,
    .id = "counterparty.show", .command = "counterparty show",
    .product = "Financial Actions", .refusals = REFUSES(&err_erased),
    .summary = "Show a counterparty");
LIST_OPERATION(arrangement_list, parties_query, arrangement_page,
    .id = "arrangement.list", .command = "arrangement list",
    .product = "Financial Actions", .summary = "List the arrangements");

/* How one list is read: its rows by rising id, which is the first column. */
struct listing {
	const char *sql; /* takes after_id and a number of rows */
	size_t size;     /* of a record */
	int (*read)(
	    struct context *, const struct rows *, void *record, struct err *);
};

static int
read_rows(struct context *c, const struct listing *l, struct rows *r,
    size_t limit, struct page *out, struct err *e)
{
	char *items = arena_array(c->arena, limit, l->size);
	int64_t last = 0;
	int state;

	out->data.items = items;
	while ((state = rows_next(r, e)) == 1) {
		if (out->data.n == limit) {
			out->has_more = true;
			out->next_after_id = (struct opt_int){ true, last };
			break;
		}
		last = rows_int(r, 0);
		if (l->read(c, r, items + out->data.n++ * l->size, e))
			return -1;
	}
	return state < 0 ? -1 : 0;
}

static int
list(struct context *c, const struct listing *l, const struct parties_query *in,
    struct page *out, struct err *e)
{
	struct rows r;
	int result;

	/* One row more tells whether there are more. */
	if (db_query(c->db, &r, e, l->sql, "ii", in->after_id, in->limit + 1))
		return -1;
	result = read_rows(c, l, &r, (size_t)in->limit, out, e);
	return rows_end(&r, e) ? -1 : result;
}

static struct str_list
modes_of(struct arena *a, bool sandbox, bool live)
{
	struct str *items = arena_array(a, 2, sizeof *items);
	size_t n = 0;

	if (sandbox)
		items[n++] = STR("sandbox");
	if (live)
		items[n++] = STR("live");
	return (struct str_list){ items, n };
}

static int
read_connector(
    struct context *c, const struct rows *r, void *record, struct err *e)
{
	struct connector_record *out = record;
	struct arena *a = c->arena;

	(void)e;
	*out = (struct connector_record){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.name = rows_str(r, 2, a),
		.kind = rows_str(r, 3, a),
		.modes = modes_of(a, rows_bool(r, 4), rows_bool(r, 5)),
		.status = rows_str(r, 6, a),
		.created_at = rows_instant(r, 7),
	};
	return 0;
}

static int
connector_list_read(struct context *c, const struct parties_query *in,
    struct page *out, struct err *e)
{
	static const struct listing connectors = {
		"SELECT id, uid, name, kind, sandbox, live, status, created_at"
		" FROM connector WHERE id > ? ORDER BY id LIMIT ?",
		sizeof(struct connector_record),
		read_connector,
	};

	return list(c, &connectors, in, out, e);
}

#define COUNTERPARTY                                            \
	"SELECT id, uid, name, account, name_box, account_box," \
	" content_key, lei, status, created_at FROM counterparty WHERE "

/* Name and account, where they are encrypted; or what erased them. */
static int
decrypt(struct context *c, const struct rows *r,
    struct counterparty_record *out, struct err *e)
{
	struct content_key key;
	struct erasure by;
	int found = content_find(c, rows_uid(r, 6), &key, &by, e);

	if (found == 0) {
		out->erased_at = by.at;
		out->erased_by_event =
		    (struct opt_int){ true, (int64_t)by.seq };
	}
	if (found == 1 && (content_open(c, &key, out->uid, "name",
			       rows_str(r, 4, c->arena), &out->name, e) ||
			      content_open(c, &key, out->uid, "account",
				  rows_str(r, 5, c->arena), &out->account, e)))
		found = -1;
	content_end(&key);
	return found < 0 ? -1 : 0;
}

static int
read_counterparty(
    struct context *c, const struct rows *r, void *record, struct err *e)
{
	struct counterparty_record *out = record;

	*out = (struct counterparty_record){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.name = rows_str(r, 2, c->arena),
		.account = rows_str(r, 3, c->arena),
		.lei = rows_str(r, 7, c->arena),
		.status = rows_str(r, 8, c->arena),
		.created_at = rows_instant(r, 9),
	};
	return rows_is_null(r, 6) ? 0 : decrypt(c, r, out, e);
}

static int
counterparty_list_read(struct context *c, const struct parties_query *in,
    struct page *out, struct err *e)
{
	static const struct listing counterparties = {
		COUNTERPARTY "id > ? ORDER BY id LIMIT ?",
		sizeof(struct counterparty_record),
		read_counterparty,
	};

	return list(c, &counterparties, in, out, e);
}

static int
find_counterparty(struct context *c, int64_t id,
    struct counterparty_record *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e, COUNTERPARTY "id = ?", "i", id))
		return -1;
	found = rows_next(&r, e);
	if (found == 1 && read_counterparty(c, &r, out, e))
		found = -1;
	return rows_end(&r, e) ? -1 : found;
}

static int
counterparty_show_read(struct context *c, const struct counterparty_id *in,
    struct counterparty_record *out, struct err *e)
{
	int found = find_counterparty(c, in->id, out, e);

	if (found < 0)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found,
		    "there is no counterparty %lld in this workspace",
		    (long long)in->id);
	if (!out->erased_by_event.set)
		return 0;
	return content_refuse(c,
	    &(struct erasure){
		(uint64_t)out->erased_by_event.v, out->erased_at },
	    e);
}

static int
read_arrangement(
    struct context *c, const struct rows *r, void *record, struct err *e)
{
	struct arrangement_record *out = record;
	struct arena *a = c->arena;

	(void)e;
	*out = (struct arrangement_record){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.counterparty_id = rows_int(r, 2),
		.kind = rows_str(r, 3, a),
		.currency = rows_str(r, 4, a),
		.limit = { rows_str(r, 5, a) },
		.status = rows_str(r, 6, a),
		.created_at = rows_instant(r, 7),
	};
	return 0;
}

static int
arrangement_list_read(struct context *c, const struct parties_query *in,
    struct page *out, struct err *e)
{
	static const struct listing arrangements = {
		"SELECT id, uid, counterparty_id, kind, currency, limit_amount,"
		" status, created_at"
		" FROM arrangement WHERE id > ? ORDER BY id LIMIT ?",
		sizeof(struct arrangement_record),
		read_arrangement,
	};

	return list(c, &arrangements, in, out, e);
}
