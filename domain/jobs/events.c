#include "domain/jobs/events.h"

#include "ledger/codec/canon.h"

/* clang-format off */
SHAPE(job_queued, "Work was asked for",
	FIELD(job_queued, kind, .required = true, .max = 64, .doc = "What is to be done"),
	FIELD(job_queued, input, .doc = "What it is done with"));
SHAPE(job_claimed, "A worker took the job",
	FIELD(job_claimed, kind, .required = true, .max = 64, .doc = "What is to be done"),
	FIELD(job_claimed, attempt, .required = true, .min = 1, .doc = "Which attempt, from 1"),
	FIELD(job_claimed, worker, .required = true, .max = 120, .doc = "Who took it"),
	FIELD(job_claimed, lease_until, .required = true, .doc = "When others may take it"));
SHAPE(job_completed, "The work was done",
	FIELD(job_completed, kind, .required = true, .max = 64, .doc = "What was done"),
	FIELD(job_completed, attempt, .required = true, .min = 1, .doc = "By which attempt"),
	FIELD(job_completed, result, .doc = "What came of it"));
SHAPE(job_released, "An attempt failed; another may follow",
	FIELD(job_released, kind, .required = true, .max = 64, .doc = "What is to be done"),
	FIELD(job_released, attempt, .required = true, .min = 1, .doc = "The attempt that failed"),
	FIELD(job_released, fault, .required = true, .max = 600, .doc = "Why"),
	FIELD(job_released, not_before, .required = true, .doc = "When the next may begin"));
SHAPE(job_failed, "The last attempt failed",
	FIELD(job_failed, kind, .required = true, .max = 64, .doc = "What was to be done"),
	FIELD(job_failed, attempt, .required = true, .min = 1, .doc = "The last attempt"),
	FIELD(job_failed, fault, .required = true, .max = 600, .doc = "Why"));
SHAPE(job_changed, "An operator's decision about a job",
	FIELD(job_changed, kind, .required = true, .max = 64, .doc = "What is to be done"),
	FIELD(job_changed, attempt, .required = true, .min = 0, .doc = "Attempts so far"),
	FIELD(job_changed, reason, .required = true, .max = 280, .doc = "Why"));
/* clang-format on */

EVENT_TYPE(job_queued, "job.queued", job_queued, "Work was asked for");
EVENT_TYPE(job_claimed, "job.claimed", job_claimed, "A worker took a job");
EVENT_TYPE(job_completed, "job.completed", job_completed, "A job was done");
EVENT_TYPE(job_released, "job.released", job_released,
    "An attempt at a job failed; another may follow");
EVENT_TYPE(job_failed, "job.failed", job_failed, "A job's last attempt failed");
EVENT_TYPE(job_retried, "job.retried", job_changed,
    "An operator had a failed job tried anew");
EVENT_TYPE(
    job_cancelled, "job.cancelled", job_changed, "An operator cancelled a job");

/* JSON as a column's value, canonical: read back from the repository, its
 * members come in that order. NULL stays NULL. */
static int
text_of(const struct json *v, struct arena *a, struct str *out, struct err *e)
{
	*out = STR_NONE;
	return v ? canon_str(a, v, out, e) : 0;
}

static int
project_job_queued(struct db *db, const struct event *ev,
    const struct job_queued *d, struct err *e)
{
	struct arena *a = arena_new();
	struct str input;
	int result = text_of(d->input, a, &input, e);

	if (result == 0)
		result = db_run(db, e,
		    "INSERT INTO job (uid, kind, status, input, attempt,"
		    " earlier, not_before, queued_at)"
		    " VALUES (?, ?, 'queued', ?, 0, 0, ?, ?)",
		    "usstt", ev->subject, d->kind, input, ev->at, ev->at);
	arena_free(a);
	return result;
}

/* The attempt that is still without an outcome, if there is one. */
static int
end_attempt(struct db *db, const struct event *ev, const char *outcome,
    struct str fault, struct err *e)
{
	return db_run(db, e,
	    "UPDATE job_attempt SET outcome = ?, fault = ?, ended_at = ?"
	    " WHERE job = ? AND outcome IS NULL",
	    "sstu", str_from(outcome), fault, ev->at, ev->subject);
}

static int
project_job_claimed(struct db *db, const struct event *ev,
    const struct job_claimed *d, struct err *e)
{
	if (end_attempt(db, ev, "lost", STR_NONE, e) ||
	    db_run(db, e,
		"INSERT INTO job_attempt (job, attempt, worker, claimed_at,"
		" lease_until) VALUES (?, ?, ?, ?, ?)",
		"uistt", ev->subject, d->attempt, d->worker, ev->at,
		d->lease_until))
		return -1;
	return db_run(db, e,
	    "UPDATE job SET status = 'claimed', attempt = ?, worker = ?,"
	    " lease_until = ? WHERE uid = ?",
	    "istu", d->attempt, d->worker, d->lease_until, ev->subject);
}

static int
project_job_completed(struct db *db, const struct event *ev,
    const struct job_completed *d, struct err *e)
{
	struct arena *a = arena_new();
	struct str result_text;
	int result = text_of(d->result, a, &result_text, e);

	if (result == 0)
		result = end_attempt(db, ev, "completed", STR_NONE, e);
	if (result == 0)
		result = db_run(db, e,
		    "UPDATE job SET status = 'completed', result = ?,"
		    " fault = NULL, lease_until = NULL, ended_at = ? WHERE uid = ?",
		    "stu", result_text, ev->at, ev->subject);
	arena_free(a);
	return result;
}

static int
project_job_released(struct db *db, const struct event *ev,
    const struct job_released *d, struct err *e)
{
	if (end_attempt(db, ev, "failed", d->fault, e))
		return -1;
	return db_run(db, e,
	    "UPDATE job SET status = 'queued', fault = ?, not_before = ?,"
	    " lease_until = NULL WHERE uid = ?",
	    "stu", d->fault, d->not_before, ev->subject);
}

static int
project_job_failed(struct db *db, const struct event *ev,
    const struct job_failed *d, struct err *e)
{
	if (end_attempt(db, ev, "failed", d->fault, e))
		return -1;
	return db_run(db, e,
	    "UPDATE job SET status = 'failed', fault = ?, lease_until = NULL,"
	    " ended_at = ? WHERE uid = ?",
	    "stu", d->fault, ev->at, ev->subject);
}

static int
project_job_retried(struct db *db, const struct event *ev,
    const struct job_changed *d, struct err *e)
{
	return db_run(db, e,
	    "UPDATE job SET status = 'queued', earlier = ?, not_before = ?,"
	    " ended_at = NULL WHERE uid = ?",
	    "itu", d->attempt, ev->at, ev->subject);
}

static int
project_job_cancelled(struct db *db, const struct event *ev,
    const struct job_changed *d, struct err *e)
{
	if (end_attempt(db, ev, "cancelled", d->reason, e))
		return -1;
	return db_run(db, e,
	    "UPDATE job SET status = 'cancelled', fault = ?,"
	    " lease_until = NULL, ended_at = ? WHERE uid = ?",
	    "stu", d->reason, ev->at, ev->subject);
}
