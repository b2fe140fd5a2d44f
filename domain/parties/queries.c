/*
 * connector list, counterparty list, arrangement list
 */
#include "domain/parties/group.h"
#include "domain/parties/records.h"

struct parties_query {
	int64_t limit, after_id;
};

/* clang-format off */
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
LIST_OPERATION(arrangement_list, parties_query, arrangement_page,
    .id = "arrangement.list", .command = "arrangement list",
    .product = "Financial Actions", .summary = "List the arrangements");

/* How one list is read: its rows by rising id, which is the first column. */
struct listing {
	const char *sql; /* takes after_id and a number of rows */
	size_t size;     /* of a record */
	void (*read)(const struct rows *, struct arena *, void *record);
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
		l->read(r, c->arena, items + out->data.n++ * l->size);
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

static void
read_connector(const struct rows *r, struct arena *a, void *record)
{
	struct connector_record *out = record;

	*out = (struct connector_record){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.name = rows_str(r, 2, a),
		.kind = rows_str(r, 3, a),
		.modes = modes_of(a, rows_bool(r, 4), rows_bool(r, 5)),
		.status = rows_str(r, 6, a),
		.created_at = rows_instant(r, 7),
	};
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

static void
read_counterparty(const struct rows *r, struct arena *a, void *record)
{
	struct counterparty_record *out = record;

	*out = (struct counterparty_record){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.name = rows_str(r, 2, a),
		.account = rows_str(r, 3, a),
		.lei = rows_str(r, 4, a),
		.status = rows_str(r, 5, a),
		.created_at = rows_instant(r, 6),
	};
}

static int
counterparty_list_read(struct context *c, const struct parties_query *in,
    struct page *out, struct err *e)
{
	static const struct listing counterparties = {
		"SELECT id, uid, name, account, lei, status, created_at"
		" FROM counterparty WHERE id > ? ORDER BY id LIMIT ?",
		sizeof(struct counterparty_record),
		read_counterparty,
	};

	return list(c, &counterparties, in, out, e);
}

static void
read_arrangement(const struct rows *r, struct arena *a, void *record)
{
	struct arrangement_record *out = record;

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
