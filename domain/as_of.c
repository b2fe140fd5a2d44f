#include "domain/as_of.h"

static int
check_place(struct context *c, int64_t as_of, struct err *e)
{
	uint64_t size;

	if (ledger_read_size(c->reading, &size, e))
		return -1;
	if ((uint64_t)as_of < size)
		return 0;
	return err_add_field(e, c->arena, "parameter", "as_of", "maximum",
	    "the ledger's last event is at %lld", (long long)size - 1);
}

/* 0, 1 when there is none, -1. */
static int
read_newest(struct context *c, struct uid subject, const char *prefix,
    int64_t as_of, struct stored_event *out, struct err *e)
{
	struct str bytes = { (const char *)subject.b, sizeof subject.b };
	bool found = false;
	struct rows r;
	int rc;

	if (db_query(c->db, &r, e,
		"SELECT seq FROM ledger_subject WHERE subject = ? AND seq <= ?"
		" AND NOT void ORDER BY seq DESC",
		"bi", bytes, as_of))
		return -1;
	while (!found && (rc = rows_next(&r, e)) == 1) {
		if (ledger_read_event(c->reading, (uint64_t)rows_int(&r, 0),
			c->arena, out, e)) {
			rc = -1;
			break;
		}
		found =
		    str_has_prefix(out->recorded.event.type, str_from(prefix));
	}
	return rows_end(&r, e) || rc < 0 ? -1 : !found;
}

int
as_of_find(struct context *c, struct uid subject, const char *prefix,
    struct opt_int as_of, struct stored_event *out, struct err *e)
{
	int rc;

	if (check_place(c, as_of.v, e))
		return -1;
	rc = read_newest(c, subject, prefix, as_of.v, out, e);
	if (rc > 0)
		return err_set(e, &err_not_found,
		    "this record did not exist yet at event %lld",
		    (long long)as_of.v);
	c->holds_at = (uint64_t)as_of.v + 1;
	return rc;
}

struct str
as_of_participle(const struct stored_event *stored)
{
	struct str type = stored->recorded.event.type;

	str_take(&type, '.');
	return type;
}
