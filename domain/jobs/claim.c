#include "domain/jobs/events.h"
#include "domain/jobs/kinds.h"

#define FAULT_LOST "the worker that held it was lost"

static bool
is_for(enum worker_part part, struct str name)
{
	const struct job_kind *kind = job_kind_by_name(name);
	enum worker_part own = kind && kind->remote       ? WORKER_REMOTE
			       : kind && kind->background ? WORKER_BACKGROUND
							  : WORKER_LOCAL;

	return part == WORKER_ALL || part == own;
}

/* The oldest job that this part may take now: queued and its time has come, or
 * claimed by a worker whose lease ran out. 1, 0, -1. */
static int
find_open(struct context *c, enum worker_part part, struct claim *claim,
    bool *expired, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT uid, kind, input, attempt, status, earlier FROM job"
		" WHERE (status = 'queued' AND not_before <= ?1)"
		" OR (status = 'claimed' AND lease_until <= ?1)"
		" ORDER BY id",
		"t", c->now))
		return -1;
	do
		found = rows_next(&r, e);
	while (found == 1 && !is_for(part, rows_borrow(&r, 1)));
	if (found == 1) {
		struct str input = rows_str(&r, 2, c->arena);
		struct json *v = NULL;

		claim->job = (struct job){
			.uid = rows_uid(&r, 0),
			.kind = rows_str(&r, 1, c->arena),
			.attempt = rows_int(&r, 3) + 1,
			.earlier = rows_int(&r, 5),
		};
		*expired = str_is(rows_str(&r, 4, c->arena), "claimed");
		if (input.p &&
		    json_parse(c->arena, input, &json_limits_default, &v, e))
			found = -1;
		claim->job.input = v;
	}
	if (rows_end(&r, e))
		return -1;
	return found;
}

static int
give_up(struct context *c, const struct claim *claim, const char *fault,
    struct err *e)
{
	struct job_failed data = {
		.kind = claim->job.kind,
		.attempt = claim->job.attempt > 1 ? claim->job.attempt - 1 : 1,
		.fault = str_from(fault),
	};

	return context_emit(
	    c, &event_job_failed, "job", claim->job.uid, &data, e);
}

struct wanted {
	enum worker_part part;
	struct claim *claim;
};

static int64_t
lease_us(const struct context *c, const struct job_kind *kind)
{
	return (kind->lease ? kind->lease(c) : kind->lease_s) * 1000000;
}

static int
decide_claim(struct context *c, void *arg, struct err *e)
{
	const struct wanted *wanted = arg;
	struct claim *claim = wanted->claim;
	struct job_claimed data;
	bool expired = false;
	int found = find_open(c, wanted->part, claim, &expired, e);

	claim->kind = NULL;
	if (found <= 0)
		return found;
	claim->kind = job_kind_by_name(claim->job.kind);
	if (!claim->kind)
		return give_up(c, claim, "no program knows this kind", e);
	if (expired &&
	    claim->job.attempt - claim->job.earlier > claim->kind->attempts) {
		claim->kind = NULL;
		return give_up(c, claim, FAULT_LOST, e);
	}
	data = (struct job_claimed){
		.kind = claim->job.kind,
		.attempt = claim->job.attempt,
		.worker = c->caller->operator_name,
		.lease_until = { c->now.us + lease_us(c, claim->kind) },
	};
	return context_emit(
	    c, &event_job_claimed, "job", claim->job.uid, &data, e);
}

/* Most of the time there is nothing, and finding that out needs no turn. */
static int
is_any_open(const struct worker *w, struct arena *a, struct err *e)
{
	struct caller caller = worker_caller(w);
	struct context c = worker_context(w, &caller, a);
	struct reading reading;
	struct claim claim;
	bool expired;
	int found;

	if (ledger_read_begin(w->ledger, &reading, e))
		return -1;
	c.reading = &reading;
	c.db = reading.db;
	found = find_open(&c, w->part, &claim, &expired, e);
	ledger_read_end(&reading);
	return found;
}

int
worker_claim(
    const struct worker *w, struct arena *a, struct claim *claim, struct err *e)
{
	struct wanted wanted = { w->part, claim };
	struct worker_decision decision = { .decide = decide_claim,
		.arg = &wanted };
	struct receipt receipt = { 0 };
	int any;

	/* A job that was given up makes room for the next one. */
	while ((any = is_any_open(w, a, e)) == 1) {
		*claim = (struct claim){ 0 };
		if (worker_submit(w, a, &decision, &receipt, e))
			return -1;
		if (receipt.n > 0 && claim->kind)
			return 1;
	}
	return any;
}
