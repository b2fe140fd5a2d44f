/*
 * job retry, job cancel: an operator's word about a job. A worker that is at
 * it meanwhile finds, when it comes to end its attempt, that the attempt no
 * longer stands; so a job has one end, whoever is first.
 */
#include "domain/jobs/events.h"
#include "domain/jobs/group.h"

struct job_change {
	struct uid uid;
	struct str reason;
};

struct job_change_reply {
	struct uid uid;
	struct str kind, status;
	int64_t attempt;
	struct str reason;
	struct instant changed_at;
};

/* clang-format off */
SHAPE(job_change, "A job that an operator decides about",
	FIELD(job_change, uid, .required = true, .doc = "Identifier of the job"),
	FIELD(job_change, reason, .required = true, .min = 1, .max = 280, .format = &format_text, .doc = "Why"));
SHAPE(job_change_reply, "What became of the job",
	FIELD(job_change_reply, uid, .doc = "Identifier"),
	FIELD(job_change_reply, kind, .doc = "What is to be done"),
	FIELD(job_change_reply, status, .doc = "queued or cancelled"),
	FIELD(job_change_reply, attempt, .doc = "Attempts so far"),
	FIELD(job_change_reply, reason, .doc = "Why"),
	FIELD(job_change_reply, changed_at, .doc = "When"));
/* clang-format on */

WRITE_OPERATION(job_retry, job_change, job_change_reply, .id = "job.retry",
    .command = "job retry", .status = 200, .product = "Core Platform",
    .summary = "Have a failed job tried anew",
    .emits = EMITS(&event_job_retried));

WRITE_OPERATION(job_cancel, job_change, job_change_reply, .id = "job.cancel",
    .command = "job cancel", .status = 200, .product = "Core Platform",
    .summary = "Cancel a job that is queued or being done",
    .emits = EMITS(&event_job_cancelled));

struct found {
	struct str kind, status;
	int64_t attempt;
};

static int
find(struct context *c, struct uid uid, struct found *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT kind, status, attempt FROM job WHERE uid = ?", "u",
		uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct found){ rows_str(&r, 0, c->arena),
			rows_str(&r, 1, c->arena), rows_int(&r, 2) };
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found,
		    "there is no such job in this workspace");
	return 0;
}

static int
emit(struct context *c, const struct job_change *in, const struct found *job,
    const struct event_type *type, struct err *e)
{
	struct job_changed data = { job->kind, job->attempt, in->reason };

	return context_emit(c, type, "job", in->uid, &data, e);
}

static int
job_retry_decide(struct context *c, const struct job_change *in, struct err *e)
{
	struct found job;

	if (find(c, in->uid, &job, e))
		return -1;
	if (!str_is(job.status, "failed"))
		return err_set(e, &err_conflict,
		    "the job is %.*s; only one that failed is tried anew",
		    STR_ARGS(job.status));
	return emit(c, in, &job, &event_job_retried, e);
}

static int
job_cancel_decide(struct context *c, const struct job_change *in, struct err *e)
{
	struct found job;

	if (find(c, in->uid, &job, e))
		return -1;
	if (!str_is(job.status, "queued") && !str_is(job.status, "claimed"))
		return err_set(e, &err_conflict,
		    "the job is %.*s; only one that is queued or being done"
		    " can be cancelled",
		    STR_ARGS(job.status));
	return emit(c, in, &job, &event_job_cancelled, e);
}

static int
render(struct context *c, const struct event *ev, const struct event_type *type,
    struct str status, struct job_change_reply *out, struct err *e)
{
	struct job_changed data;

	if (context_event_data(c, ev, type, &data, e))
		return -1;
	*out = (struct job_change_reply){
		.uid = ev->subject,
		.kind = data.kind,
		.status = status,
		.attempt = data.attempt,
		.reason = data.reason,
		.changed_at = ev->at,
	};
	return 0;
}

static int
job_retry_reply(struct context *c, const struct event *ev,
    struct job_change_reply *out, struct err *e)
{
	return render(c, ev, &event_job_retried, STR("queued"), out, e);
}

static int
job_cancel_reply(struct context *c, const struct event *ev,
    struct job_change_reply *out, struct err *e)
{
	return render(c, ev, &event_job_cancelled, STR("cancelled"), out, e);
}
