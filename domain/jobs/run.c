#include "domain/catalog.h"
#include "domain/jobs/events.h"
#include "domain/jobs/kinds.h"
#include "ledger/base/log.h"

static int
run(const struct worker *w, struct arena *a, const struct claim *claim,
    const struct json **result, struct err *e)
{
	struct caller caller = worker_caller(w);
	struct context c = worker_context(w, &caller, a);
	struct reading reading;
	int failed;

	if (claim->kind->no_reading)
		return claim->kind->run(&c, &claim->job, result, e);
	if (ledger_read_begin(w->ledger, &reading, e))
		return -1;
	c.reading = &reading;
	c.db = reading.db;
	failed = claim->kind->run(&c, &claim->job, result, e);
	ledger_read_end(&reading);
	return failed;
}

/* A result that the settlement refuses is a failed attempt like any other. */
static int
settle(const struct worker *w, struct arena *a, const struct claim *claim,
    const struct json *result, const struct err *fault, struct err *e)
{
	struct err refusal = { 0 };
	bool ended;

	if (worker_settle(w, a, claim, result, fault, &ended, &refusal)) {
		if (fault || (refusal.kind && refusal.kind->status >= 500)) {
			*e = refusal;
			return -1;
		}
		return worker_settle(w, a, claim, NULL, &refusal, &ended, e);
	}
	if (!ended)
		log_line(LOG_WARN, "worker",
		    "%.*s/%.*s: %.*s: the lease had run out, or the job was"
		    " cancelled",
		    STR_ARGS(w->place.workspace),
		    STR_ARGS(w->place.environment), STR_ARGS(claim->job.kind));
	return 0;
}

int
worker_run_one(const struct worker *w, struct arena *a, struct err *e)
{
	const struct json *result = NULL;
	struct err fault = { 0 };
	struct claim claim;
	int claimed = worker_claim(w, a, &claim, e);
	int failed;

	if (claimed <= 0)
		return claimed;
	failed = run(w, a, &claim, &result, &fault);
	if (failed)
		log_line(LOG_WARN, "worker",
		    "%.*s/%.*s: %.*s, attempt %lld: %s",
		    STR_ARGS(w->place.workspace),
		    STR_ARGS(w->place.environment), STR_ARGS(claim.job.kind),
		    (long long)claim.job.attempt, fault.detail);
	return settle(w, a, &claim, result, failed ? &fault : NULL, e) ? -1 : 1;
}

/* What the schedule saw: of this kind none is open, and this is the last. */
struct wish {
	const struct job_kind *kind;
	int64_t last_id;
};

/* 1 with the last id when none of the kind is open. */
static int
is_idle(
    struct db *db, const struct job_kind *kind, int64_t *last, struct err *e)
{
	int64_t open;

	if (db_get_int(db, &open, 0, e,
		"SELECT count(*) FROM job WHERE kind = ?"
		" AND status IN ('queued', 'claimed')",
		"s", str_from(kind->name)) ||
	    db_get_int(db, last, 0, e, "SELECT max(id) FROM job WHERE kind = ?",
		"s", str_from(kind->name)))
		return -1;
	return open == 0;
}

/* Two workers may have wished for the same; the second finds another id. */
static int
decide_queue(struct context *c, void *arg, struct err *e)
{
	const struct wish *wish = arg;
	int64_t last;
	int idle = is_idle(c->db, wish->kind, &last, e);

	if (idle < 0)
		return -1;
	if (idle == 0 || last != wish->last_id)
		return 0;
	return job_queue(c, wish->kind, NULL, NULL, e);
}

static int
is_wanted(
    const struct worker *w, struct arena *a, struct wish *wish, struct err *e)
{
	struct caller caller = worker_caller(w);
	struct context c = worker_context(w, &caller, a);
	struct reading reading;
	int wanted;

	if (ledger_read_begin(w->ledger, &reading, e))
		return -1;
	c.reading = &reading;
	c.db = reading.db;
	wanted = is_idle(c.db, wish->kind, &wish->last_id, e);
	if (wanted == 1)
		wanted = wish->kind->due(&c);
	ledger_read_end(&reading);
	return wanted;
}

static int
schedule_kind(const struct worker *w, const struct job_kind *kind,
    struct arena *a, struct err *e)
{
	struct wish wish = { .kind = kind };
	struct worker_decision decision = { .decide = decide_queue,
		.arg = &wish };
	struct receipt receipt = { 0 };
	int wanted;

	if (!kind->due)
		return 0;
	wanted = is_wanted(w, a, &wish, e);
	if (wanted <= 0)
		return wanted;
	return worker_submit(w, a, &decision, &receipt, e);
}

int
worker_schedule(const struct worker *w, struct arena *a, struct err *e)
{
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct job_kind *const *kind = catalog_groups[i]->jobs;

		for (; kind && *kind; kind++)
			if (schedule_kind(w, *kind, a, e))
				return -1;
	}
	return 0;
}
