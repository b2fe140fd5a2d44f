/* Records by number or identifier, for other groups. */
#include "domain/parties.h"

int
connector_find(
    struct context *c, int64_t id, struct connector *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, name, kind, sandbox, live, status"
		" FROM connector WHERE id = ?",
		"i", id))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct connector){
			.id = rows_int(&r, 0),
			.uid = rows_uid(&r, 1),
			.name = rows_str(&r, 2, c->arena),
			.kind = rows_str(&r, 3, c->arena),
			.sandbox = rows_bool(&r, 4),
			.live = rows_bool(&r, 5),
			.status = rows_str(&r, 6, c->arena),
		};
	return rows_end(&r, e) ? -1 : found;
}

int
counterparty_find(
    struct context *c, int64_t id, struct counterparty *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, lei, status FROM counterparty WHERE id = ?",
		"i", id))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct counterparty){
			.id = rows_int(&r, 0),
			.uid = rows_uid(&r, 1),
			.lei = rows_str(&r, 2, c->arena),
			.status = rows_str(&r, 3, c->arena),
		};
	return rows_end(&r, e) ? -1 : found;
}

int
arrangement_find(
    struct context *c, struct uid uid, struct arrangement *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, counterparty_id, kind, currency, limit_minor,"
		" status FROM arrangement WHERE uid = ?",
		"u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct arrangement){
			.id = rows_int(&r, 0),
			.uid = rows_uid(&r, 1),
			.counterparty_id = rows_int(&r, 2),
			.kind = rows_str(&r, 3, c->arena),
			.currency = rows_str(&r, 4, c->arena),
			.has_limit = !rows_is_null(&r, 5),
			.limit_minor = rows_int(&r, 5),
			.status = rows_str(&r, 6, c->arena),
		};
	return rows_end(&r, e) ? -1 : found;
}

/* Numbers are given without gaps and nothing is ever taken away. */
int
parties_count(struct context *c, int64_t *connectors, int64_t *counterparties,
    int64_t *arrangements, struct err *e)
{
	if (db_get_int(c->db, connectors, 0, e,
		"SELECT coalesce(max(id), 0) FROM connector", "") ||
	    db_get_int(c->db, counterparties, 0, e,
		"SELECT coalesce(max(id), 0) FROM counterparty", ""))
		return -1;
	return db_get_int(c->db, arrangements, 0, e,
	    "SELECT coalesce(max(id), 0) FROM arrangement", "");
}
