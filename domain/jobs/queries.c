#include "domain/jobs/group.h"

struct job_row {
	int64_t id;
	struct uid uid;
	struct str kind, status;
	int64_t attempt;
	struct str worker, fault;
	const struct json *result;
	struct instant queued_at, lease_until, ended_at;
};

struct job_query {
	struct str status, kind;
	int64_t limit, after_id;
};

/* clang-format off */
SHAPE(job_row, "A job and its latest attempt",
	FIELD(job_row, id, .doc = "Number"),
	FIELD(job_row, uid, .doc = "Identifier"),
	FIELD(job_row, kind, .doc = "What is to be done"),
	FIELD(job_row, status, .doc = "queued, claimed, completed, failed or cancelled"),
	FIELD(job_row, attempt, .doc = "Attempts so far"),
	FIELD(job_row, worker, .doc = "Who made the latest attempt"),
	FIELD(job_row, fault, .doc = "Why the latest attempt failed, or the job was cancelled"),
	FIELD(job_row, result, .doc = "What came of it"),
	FIELD(job_row, queued_at, .doc = "When it was asked for"),
	FIELD(job_row, lease_until, .doc = "When others may take it"),
	FIELD(job_row, ended_at, .doc = "When it ended"));
SHAPE(job_query, "Which jobs",
	FIELD(job_query, status, .place = IN_QUERY, .values = VALUES("queued", "claimed", "completed", "failed", "cancelled"), .doc = "Only those with this status"),
	FIELD(job_query, kind, .place = IN_QUERY, .max = 64, .doc = "Only those of this kind"),
	PAGE_QUERY(job_query));
PAGE_SHAPE(job_page, "Jobs", job_row_shape);
/* clang-format on */

LIST_OPERATION(job_list, job_query, job_page, .id = "job.list",
    .command = "job list", .product = "Core Platform",
    .summary = "List the work that the worker does");

static int
row_from(struct rows *r, struct arena *a, struct job_row *out, struct err *e)
{
	struct str result = rows_str(r, 7, a);
	struct json *v = NULL;

	if (result.p && json_parse(a, result, &json_limits_default, &v, e))
		return -1;
	*out = (struct job_row){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.kind = rows_str(r, 2, a),
		.status = rows_str(r, 3, a),
		.attempt = rows_int(r, 4),
		.worker = rows_str(r, 5, a),
		.fault = rows_str(r, 6, a),
		.result = v,
		.queued_at = rows_instant(r, 8),
		.lease_until = rows_instant(r, 9),
		.ended_at = rows_instant(r, 10),
	};
	return 0;
}

static int
job_list_read(struct context *c, const struct job_query *in, struct page *out,
    struct err *e)
{
	struct job_row *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);
	struct rows r;
	int failed = 0;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, kind, status, attempt, worker, fault, result,"
		" queued_at, lease_until, ended_at FROM job WHERE id > ?1"
		" AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR kind = ?3)"
		" ORDER BY id LIMIT ?4",
		"issi", in->after_id, in->status, in->kind, in->limit + 1))
		return -1;
	out->data.items = items;
	while (!failed && rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			failed =
			    row_from(&r, c->arena, &items[out->data.n++], e);
	}
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return rows_end(&r, e) ? -1 : failed;
}
