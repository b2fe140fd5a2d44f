#include "domain/jobs/group.h"

#define ATTEMPTS_MAX 1000

struct job_show_query {
	struct uid uid;
};

struct attempt {
	int64_t attempt;
	struct str worker;
	struct instant claimed_at, lease_until;
	struct str outcome, fault;
	struct instant ended_at;
};

struct job_detail {
	int64_t id;
	struct uid uid;
	struct str kind, status;
	const struct json *input, *result;
	struct str fault;
	struct instant queued_at, not_before, ended_at;
	struct list attempts;
};

/* clang-format off */
SHAPE(job_show_query, "Which job",
	FIELD(job_show_query, uid, .required = true, .doc = "Identifier of the job"));
SHAPE(attempt, "An attempt at a job",
	FIELD(attempt, attempt, .doc = "Which, from 1"),
	FIELD(attempt, worker, .doc = "Who made it"),
	FIELD(attempt, claimed_at, .doc = "When it began"),
	FIELD(attempt, lease_until, .doc = "When others might take the job"),
	FIELD(attempt, outcome, .doc = "completed, failed, cancelled, or lost: the lease ran out; null while it is made"),
	FIELD(attempt, fault, .doc = "Why it failed or was cancelled"),
	FIELD(attempt, ended_at, .doc = "When that was known"));
SHAPE(job_detail, "A job and its attempts",
	FIELD(job_detail, id, .doc = "Number"),
	FIELD(job_detail, uid, .doc = "Identifier"),
	FIELD(job_detail, kind, .doc = "What is to be done"),
	FIELD(job_detail, status, .doc = "queued, claimed, completed, failed or cancelled"),
	FIELD(job_detail, input, .doc = "What it is done with"),
	FIELD(job_detail, result, .doc = "What came of it"),
	FIELD(job_detail, fault, .doc = "Why the latest attempt failed, or the job was cancelled"),
	FIELD(job_detail, queued_at, .doc = "When it was asked for"),
	FIELD(job_detail, not_before, .doc = "When the next attempt might begin"),
	FIELD(job_detail, ended_at, .doc = "When it ended"),
	FIELD(job_detail, attempts, .of = &attempt_shape, .doc = "Its latest attempts, at most 1,000, the oldest first"));
/* clang-format on */

READ_OPERATION(job_show, job_show_query, job_detail, .id = "job.show",
    .command = "job show", .product = "Core Platform",
    .summary = "Show a job and its attempts");

static int
parse_column(struct rows *r, int column, struct arena *a,
    const struct json **out, struct err *e)
{
	struct str text = rows_str(r, column, a);
	struct json *v = NULL;

	if (text.p && json_parse(a, text, &json_limits_default, &v, e))
		return -1;
	*out = v;
	return 0;
}

static int
read_row(struct rows *r, struct arena *a, struct job_detail *out, struct err *e)
{
	*out = (struct job_detail){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.kind = rows_str(r, 2, a),
		.status = rows_str(r, 3, a),
		.fault = rows_str(r, 6, a),
		.queued_at = rows_instant(r, 7),
		.not_before = rows_instant(r, 8),
		.ended_at = rows_instant(r, 9),
	};
	return parse_column(r, 4, a, &out->input, e) ||
		       parse_column(r, 5, a, &out->result, e)
		   ? -1
		   : 0;
}

static int
read_job(
    struct context *c, struct uid uid, struct job_detail *out, struct err *e)
{
	struct rows r;
	int found, failed = 0;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, kind, status, input, result, fault, queued_at,"
		" not_before, ended_at FROM job WHERE uid = ?",
		"u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		failed = read_row(&r, c->arena, out, e);
	if (rows_end(&r, e) || found < 0 || failed)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found,
		    "there is no such job in this workspace");
	return 0;
}

static void
read_attempt(struct rows *r, struct arena *a, struct attempt *out)
{
	*out = (struct attempt){
		.attempt = rows_int(r, 0),
		.worker = rows_str(r, 1, a),
		.claimed_at = rows_instant(r, 2),
		.lease_until = rows_instant(r, 3),
		.outcome = rows_str(r, 4, a),
		.fault = rows_str(r, 5, a),
		.ended_at = rows_instant(r, 6),
	};
}

static int
job_show_read(struct context *c, const struct job_show_query *in,
    struct job_detail *out, struct err *e)
{
	struct attempt *items =
	    arena_array(c->arena, ATTEMPTS_MAX, sizeof *items);
	struct rows r;

	if (read_job(c, in->uid, out, e) ||
	    db_query(c->db, &r, e,
		"SELECT * FROM (SELECT attempt, worker, claimed_at,"
		" lease_until, outcome, fault, ended_at FROM job_attempt"
		" WHERE job = ? ORDER BY attempt DESC LIMIT ?)"
		" ORDER BY attempt",
		"ui", in->uid, (int64_t)ATTEMPTS_MAX))
		return -1;
	out->attempts.items = items;
	while (rows_next(&r, e) == 1)
		read_attempt(&r, c->arena, &items[out->attempts.n++]);
	return rows_end(&r, e);
}
