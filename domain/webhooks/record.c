/*
 * What came of a batch of attempts, as one event. An attempt that another
 * worker's overtook is recorded too, and changes nothing.
 */
#include <string.h>

#include "domain/running.h"
#include "domain/service.h"
#include "domain/webhooks/group.h"
#include "domain/webhooks/send.h"

#define SECOND_US    INT64_C(1000000)
#define RETRY_MAX_S  INT64_C(86400)
#define JITTER_PARTS 10 /* at most a tenth more */
#define HOURS(n)     (INT64_C(3600) * (n))

/* Standard Webhooks 1.0, after the first attempt. */
static const int64_t waits_s[] = { 5, 300, 1800, HOURS(2), HOURS(5), HOURS(10),
	HOURS(14), HOURS(20), HOURS(24) };
#define WAITS ((int64_t)(sizeof waits_s / sizeof waits_s[0]))

int64_t
webhook_wait_us(
    int64_t tries, int64_t percent, int64_t retry_after_s, uint32_t random)
{
	int64_t wait_us, told_us;

	if (tries > WAITS)
		return 0;
	wait_us = waits_s[tries - 1] * SECOND_US / 100 * percent;
	wait_us += wait_us / JITTER_PARTS / 65536 * (random % 65536);
	if (retry_after_s > RETRY_MAX_S)
		retry_after_s = RETRY_MAX_S;
	told_us = retry_after_s * SECOND_US;
	if (wait_us < told_us)
		wait_us = told_us;
	return wait_us > 0 ? wait_us : 1;
}

struct recording {
	const struct errand *errand;
	const struct sent *sent;
	size_t n;
};

struct standing {
	int64_t attempts, before;
	bool queued;
};

static int
find_standing(
    struct context *c, struct uid delivery, struct standing *out, struct err *e)
{
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT attempts, before, status = 'queued'"
		" FROM webhook_delivery WHERE uid = ?",
		"u", delivery))
		return -1;
	if (rows_next(&r, e) == 1)
		*out = (struct standing){ rows_int(&r, 0), rows_int(&r, 1),
			rows_bool(&r, 2) };
	return rows_end(&r, e);
}

/* The draw is the decision's, so it is in the event. */
static void
settle(struct context *c, const struct sent *sent, const struct standing *at,
    struct webhook_attempt *out)
{
	int64_t percent = service_config(c->service)->webhook_retry_percent;
	int64_t wait_us;
	uint32_t random;

	tx_random(c->tx, &random, sizeof random);
	wait_us = webhook_wait_us(at->attempts + 1 - at->before, percent,
	    sent->retry_after_s, random);
	if (!at->queued) {
		out->outcome = STR("late");
	} else if (!sent->fault.p) {
		out->outcome = STR("delivered");
	} else if (wait_us == 0 || webhook_is_gone(sent)) {
		out->outcome = STR("dead");
	} else {
		out->outcome = STR("retry");
		out->next_at.us = c->now.us + wait_us;
	}
}

static int
make_attempt(struct context *c, const struct sent *sent,
    struct webhook_attempt *out, struct err *e)
{
	struct standing at = { 0 };

	if (find_standing(c, sent->delivery, &at, e))
		return -1;
	*out = (struct webhook_attempt){
		.delivery = sent->delivery,
		.number = at.attempts + 1,
		.at = sent->at,
		.status = sent->status,
		.duration_ms = sent->duration_ms,
		.fault = sent->fault,
	};
	settle(c, sent, &at, out);
	return 0;
}

static int
disable(struct context *c, struct uid webhook, struct err *e)
{
	struct webhook_changed data = { STR("the endpoint answered 410") };
	struct webhook_row row;

	if (webhook_find(c, webhook, &row, e))
		return -1;
	if (!str_is(row.status, "active"))
		return 0;
	return context_emit(
	    c, &event_webhook_disabled, "webhook", webhook, &data, e);
}

static int
decide(struct context *c, void *arg, struct err *e)
{
	const struct recording *r = arg;
	struct webhook_attempt *items =
	    arena_array(c->arena, r->n + 1, sizeof *items);
	struct webhook_attempted data = { (int64_t)r->errand->claim,
		{ items, r->n } };
	bool gone = false;

	for (size_t i = 0; i < r->n; i++) {
		if (make_attempt(c, &r->sent[i], &items[i], e))
			return -1;
		gone = gone || webhook_is_gone(&r->sent[i]);
	}
	if (context_emit(c, &event_webhook_attempted, "webhook",
		r->errand->webhook, &data, e))
		return -1;
	return gone ? disable(c, r->errand->webhook, e) : 0;
}

int
webhook_record(const struct worker *w, struct arena *a,
    const struct errand *errand, const struct sent *sent, size_t n,
    struct err *e)
{
	struct recording recording = { errand, sent, n };
	struct worker_decision d = { .decide = decide, .arg = &recording };
	struct receipt receipt = { 0 };

	return worker_submit(w, a, &d, &receipt, e);
}
