#include "domain/jobs/events.h"
#include "domain/jobs/kinds.h"

#include <stdio.h>

#define RETRY_FIRST_S 5
#define RETRY_MAX_S   600

struct settlement {
	const struct claim *claim;
	const struct json *result;
	struct str fault; /* no value: it was done */
	bool ended;
};

/* Whether this worker's attempt still stands. */
static int
holds(struct context *c, const struct job *job, bool *out, struct err *e)
{
	int64_t n;

	if (db_get_int(c->db, &n, 0, e,
		"SELECT count(*) FROM job WHERE uid = ? AND status = 'claimed'"
		" AND attempt = ? AND worker = ?",
		"uis", job->uid, job->attempt, c->caller->operator_name))
		return -1;
	*out = n == 1;
	return 0;
}

static int
complete(struct context *c, const struct settlement *s, struct err *e)
{
	const struct job *job = &s->claim->job;
	struct job_completed data = { job->kind, job->attempt, s->result };

	if (s->claim->kind->settle &&
	    s->claim->kind->settle(c, job, s->result, e))
		return -1;
	return context_emit(c, &event_job_completed, "job", job->uid, &data, e);
}

/* 5 s, 10 s, 20 s, … ten minutes. */
static int64_t
retry_after_s(int64_t attempt)
{
	int64_t s = RETRY_FIRST_S;

	while (--attempt > 0 && s < RETRY_MAX_S)
		s *= 2;
	return s < RETRY_MAX_S ? s : RETRY_MAX_S;
}

static int
record_fault(struct context *c, const struct settlement *s, struct err *e)
{
	const struct job *job = &s->claim->job;
	int64_t attempt = job->attempt - job->earlier;
	struct job_failed failed = { job->kind, job->attempt, s->fault };
	struct job_released released = {
		.kind = job->kind,
		.attempt = job->attempt,
		.fault = s->fault,
		.not_before = { c->now.us + retry_after_s(attempt) * 1000000 },
	};

	if (attempt >= s->claim->kind->attempts)
		return context_emit(
		    c, &event_job_failed, "job", job->uid, &failed, e);
	return context_emit(
	    c, &event_job_released, "job", job->uid, &released, e);
}

static int
decide_settle(struct context *c, void *arg, struct err *e)
{
	struct settlement *s = arg;

	s->ended = false;
	if (holds(c, &s->claim->job, &s->ended, e))
		return -1;
	if (!s->ended)
		return 0;
	return s->fault.p ? record_fault(c, s, e) : complete(c, s, e);
}

static struct str
fault_text(struct arena *a, const struct err *fault)
{
	return arena_strf(a, "%s: %s",
	    fault->kind ? fault->kind->slug : "fault", fault->detail);
}

int
worker_settle(const struct worker *w, struct arena *a,
    const struct claim *claim, const struct json *result,
    const struct err *fault, bool *ended, struct err *e)
{
	struct settlement s = {
		.claim = claim,
		.result = result,
		.fault = fault ? fault_text(a, fault) : STR_NONE,
	};
	struct worker_decision decision = { .decide = decide_settle,
		.arg = &s };
	struct receipt receipt = { 0 };
	int failed = worker_submit(w, a, &decision, &receipt, e);

	*ended = !failed && s.ended;
	return failed;
}
