#include "domain/timestamps.h"

int
timestamps_describe(
    struct context *c, struct timestamps_state *out, struct err *e)
{
	struct rows r;
	int found;

	*out = (struct timestamps_state){ 0 };
	if (db_get_int(c->db, &out->first.us, 0, e,
		"SELECT gen_time FROM checkpoint_timestamp ORDER BY seq LIMIT 1",
		"") ||
	    db_query(c->db, &r, e,
		"SELECT authority, size, gen_time FROM checkpoint_timestamp"
		" ORDER BY seq DESC LIMIT 1",
		""))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		out->authority = rows_str(&r, 0, c->arena);
		out->size = rows_int(&r, 1);
		out->latest = rows_instant(&r, 2);
	}
	return rows_end(&r, e) || found < 0 ? -1 : 0;
}
