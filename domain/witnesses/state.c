#include "domain/witnesses/group.h"

/* When witnesses spoke: of the checkpoint of one size, or at first. */
static int
find_times(struct context *c, struct witnesses_state *out, struct err *e)
{
	if (db_get_int(c->db, &out->first.us, 0, e,
		"SELECT time FROM cosignature ORDER BY size LIMIT 1", ""))
		return -1;
	return db_get_int(c->db, &out->latest.us, 0, e,
	    "SELECT max(time) FROM cosignature WHERE size = ?", "i",
	    (int64_t)out->newest);
}

int
witnesses_describe(
    struct context *c, struct witnesses_state *out, struct err *e)
{
	struct err why = { 0 };
	struct witness_list list;

	*out = (struct witnesses_state){ 0 };
	if (witness_list_read(c->service, c->arena, &list, &why)) {
		out->unknown = true;
		return 0;
	}
	out->asked = list.n;
	out->minimum = list.minimum;
	if (list.n == 0)
		return 0;
	if (witnesses_find_newest(c, &out->newest, &why)) {
		if (why.kind == &err_not_found)
			return 0;
		return err_set(e, why.kind, "%s", why.detail);
	}
	return find_times(c, out, e);
}
