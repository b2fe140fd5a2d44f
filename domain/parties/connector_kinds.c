#include "domain/parties.h"

int
connectors_by_kind(
    struct context *c, struct connector_kinds *out, struct err *e)
{
	struct rows r;
	int found;

	*out = (struct connector_kinds){ 0 };
	if (db_query(c->db, &r, e,
		"SELECT count(*) FILTER (WHERE kind = 'sandbox'),"
		" count(*) FILTER (WHERE kind = 'file'),"
		" count(*) FILTER (WHERE kind = 'https'), min(created_at)"
		" FROM connector",
		""))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct connector_kinds){
			.sandbox = rows_int(&r, 0),
			.file = rows_int(&r, 1),
			.https = rows_int(&r, 2),
			.since = rows_instant(&r, 3),
		};
	return rows_end(&r, e) || found < 0 ? -1 : 0;
}
