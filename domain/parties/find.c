/*
 * Records by number, identifier or what a document calls them, for other
 * groups.
 */
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
		"SELECT id, uid, name, account, lei, status"
		" FROM counterparty WHERE id = ?",
		"i", id))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct counterparty){
			.id = rows_int(&r, 0),
			.uid = rows_uid(&r, 1),
			.name = rows_str(&r, 2, c->arena),
			.account = rows_str(&r, 3, c->arena),
			.lei = rows_str(&r, 4, c->arena),
			.status = rows_str(&r, 5, c->arena),
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

/* The only counterparty whose column has this text: 1; 0 for none and for
 * several. */
static int
find_only(struct context *c, const char *sql, struct str text, int64_t *id,
    struct err *e)
{
	struct rows r;
	int n = 0, state;

	if (!text.p)
		return 0;
	if (db_query(c->db, &r, e, sql, "s", text))
		return -1;
	while ((state = rows_next(&r, e)) == 1) {
		*id = rows_int(&r, 0);
		n++;
	}
	return rows_end(&r, e) || state < 0 ? -1 : n == 1;
}

int
counterparty_match(struct context *c, struct str account, struct str lei,
    struct str name, struct counterparty *out, struct err *e)
{
	int64_t id;
	int found = find_only(c,
	    "SELECT id FROM counterparty WHERE account = ? LIMIT 2", account,
	    &id, e);

	if (found == 0)
		found = find_only(c,
		    "SELECT id FROM counterparty WHERE lei = ? LIMIT 2", lei,
		    &id, e);
	if (found == 0)
		found = find_only(c,
		    "SELECT id FROM counterparty WHERE name = ? LIMIT 2", name,
		    &id, e);
	return found == 1 ? counterparty_find(c, id, out, e) : found;
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
