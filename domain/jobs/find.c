#include "domain/job.h"
#include "ledger/codec/canon.h"

int
job_find(struct context *c, const struct job_kind *kind,
    const struct json *input, struct job_state *out, struct err *e)
{
	struct rows r;
	struct str text;
	int found;

	if (canon_str(c->arena, input, &text, e) ||
	    db_query(c->db, &r, e,
		"SELECT status, fault FROM job WHERE kind = ? AND input = ?"
		" ORDER BY id DESC LIMIT 1",
		"ss", str_from(kind->name), text))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct job_state){ rows_str(&r, 0, c->arena),
			rows_str(&r, 1, c->arena) };
	if (rows_end(&r, e))
		return -1;
	return found;
}

int
job_count_open(
    struct context *c, const struct job_kind *kind, int64_t *n, struct err *e)
{
	return db_get_int(c->db, n, 0, e,
	    "SELECT count(*) FROM job WHERE kind = ?"
	    " AND status IN ('queued', 'claimed')",
	    "s", str_from(kind->name));
}
