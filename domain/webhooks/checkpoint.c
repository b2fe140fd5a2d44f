/*
 * The job that announces a checkpoint to the webhooks that want them. What it
 * says is in an event, so that it is delivered as every other.
 */
#include "domain/service.h"
#include "domain/webhooks/group.h"
#include "ledger/base/log.h"

#define MINUTE_US INT64_C(60000000)

static bool due(struct context *);
static int run(
    struct context *, const struct job *, const struct json **, struct err *);
static int settle(
    struct context *, const struct job *, const struct json *, struct err *);

const struct job_kind job_webhook_checkpoint = {
	.name = "webhook.checkpoint",
	.lease_s = 60,
	.attempts = 3,
	.run = run,
	.settle = settle,
	.due = due,
};

static int
is_due(struct context *c, bool *out, struct err *e)
{
	int64_t minutes = service_config(c->service)->checkpoint_minutes;
	struct instant last;
	int64_t n;

	*out = false;
	if (db_get_int(c->db, &n, 0, e,
		"SELECT count(*) FROM webhook_subscription WHERE event = ?",
		"s", STR(WEBHOOK_CHECKPOINT)))
		return -1;
	if (n == 0)
		return 0;
	if (job_last_queued(c, &job_webhook_checkpoint, &last, e))
		return -1;
	*out = c->now.us - last.us >= minutes * MINUTE_US;
	return 0;
}

static bool
due(struct context *c)
{
	struct err e = { 0 };
	bool wanted;

	if (is_due(c, &wanted, &e))
		log_line(LOG_WARN, "worker", "webhooks: %s", e.detail);
	return wanted;
}

static int
run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	struct checkpoint_announced *data =
	    ARENA_NEW(c->arena, struct checkpoint_announced);
	uint64_t size = 0;

	(void)job;
	if (ledger_read_checkpoint(
		c->reading, &size, c->arena, &data->checkpoint, e))
		return -1;
	data->size = (int64_t)size;
	*result = shape_encode(event_checkpoint_announced.data, data, c->arena);
	return 0;
}

/* All of them are about the ledger, which has no uid: one follows from its
 * origin, and so they are delivered in their order. */
static int
settle(struct context *c, const struct job *job, const struct json *result,
    struct err *e)
{
	const struct str parts[] = { STR("ledger\n"),
		ledger_origin(c->ledger) };
	struct checkpoint_announced data;

	(void)job;
	if (shape_decode_json(
		event_checkpoint_announced.data, result, c->arena, &data, e))
		return -1;
	return context_emit(c, &event_checkpoint_announced, "ledger",
	    webhook_uid_of(parts, 2), &data, e);
}
