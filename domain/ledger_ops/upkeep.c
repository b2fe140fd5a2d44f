/*
 * What the worker does for a ledger by itself: packing loose objects, and
 * verifying everything from the first event, with the outcome recorded in the
 * ledger it is about.
 */
#include "domain/ledger_ops.h"
#include "domain/ledger_ops/group.h"
#include "domain/service.h"
#include "ledger/base/log.h"
#include "ledger/chain/verify.h"

#define HOUR_US INT64_C(3600000000)

static bool pack_due(struct context *);
static int pack_run(
    struct context *, const struct job *, const struct json **, struct err *);
static bool verify_due(struct context *);
static int verify_run(
    struct context *, const struct job *, const struct json **, struct err *);
static int verify_settle(
    struct context *, const struct job *, const struct json *, struct err *);

const struct job_kind job_ledger_pack = {
	.name = "ledger.pack",
	.lease_s = 600,
	.attempts = 3,
	.run = pack_run,
	.due = pack_due,
	.no_reading = true,
};

const struct job_kind job_ledger_verify = {
	.name = "ledger.verify",
	.lease_s = 21600,
	.attempts = 3,
	.run = verify_run,
	.settle = verify_settle,
	.due = verify_due,
	.no_reading = true,
};

static bool
pack_due(struct context *c)
{
	size_t threshold = (size_t)service_config(c->service)->pack_threshold;
	size_t n = 0;
	struct err e = { 0 };

	if (ledger_count_loose(c->ledger, threshold, &n, &e))
		log_line(LOG_WARN, "worker", "cannot count loose objects: %s",
		    e.detail);
	return n >= threshold;
}

static int
pack_run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	size_t threshold = (size_t)service_config(c->service)->pack_threshold;
	struct json *v = json_object(c->arena);
	size_t packed = 0;

	(void)job;
	if (ledger_pack(c->ledger, threshold, &packed, e))
		return -1;
	json_put_int(c->arena, v, "packed", (int64_t)packed);
	*result = v;
	return 0;
}

static bool
verify_due(struct context *c)
{
	int64_t hours = service_config(c->service)->verify_hours;
	struct verification last;
	struct err e = { 0 };
	int found = ledger_last_verification(c, &last, &e);

	if (found < 0)
		log_line(LOG_WARN, "worker",
		    "cannot read the last verification: %s", e.detail);
	return found == 0 || (found == 1 && c->now.us - last.finished_at.us >=
						hours * HOUR_US);
}

static struct verification
outcome(struct arena *a, const struct verify_report *report)
{
	struct verification v = {
		.size = (int64_t)report->size,
		.root = { digest_hex_str(a, report->root) },
		.head = { digest_hex_str(a, report->head) },
		.result = report->good ? STR("passed") : STR("failed"),
		.events = (int64_t)report->events,
	};

	if (!report->good) {
		v.reason =
		    arena_strf(a, "%s: %s", report->check, report->reason);
		v.failed_seq =
		    (struct opt_int){ true, (int64_t)report->failed_seq };
	}
	return v;
}

/* One thread: the requests being served matter more than an early end. */
static int
verify_run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	struct verify_options options = {
		.key = ledger_public_key(c->ledger),
		.key_may_be_new = true,
		.threads = 1,
	};
	struct verify_report report = { 0 };
	struct ledger_options place;
	struct verification v;
	struct instant started = service_now(c->service);

	(void)job;
	if (service_ledger_options(c->service, c->place, c->arena, &place, e) ||
	    verify_ledger(arena_printf(c->arena, "%s/ledger.git", place.dir),
		&options, &report, e))
		return -1;
	v = outcome(c->arena, &report);
	v.started_at = started;
	v.finished_at = service_now(c->service);
	if (!report.good)
		log_line(LOG_ERROR, "worker", "%.*s does not verify: %.*s",
		    STR_ARGS(ledger_origin(c->ledger)), STR_ARGS(v.reason));
	*result = shape_encode(&verification_shape, &v, c->arena);
	return 0;
}

static int
verify_settle(struct context *c, const struct job *job,
    const struct json *result, struct err *e)
{
	struct verification v;

	if (shape_decode_json(&verification_shape, result, c->arena, &v, e))
		return -1;
	return context_emit(
	    c, &event_ledger_verified, "ledger", job->uid, &v, e);
}
