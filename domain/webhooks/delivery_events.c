/* What becomes of deliveries. */
#include "domain/webhooks/events.h"

#include "domain/webhooks/group.h"
#include "ledger/codec/canon.h"

/* An endpoint whose answer took longer is served among the ailing ones. */
#define SLOW_MS 5000

/* clang-format off */
SHAPE(webhook_claimed, "A worker took an endpoint, to deliver to it",
	FIELD(webhook_claimed, worker, .required = true, .max = 120, .doc = "Who took it"),
	FIELD(webhook_claimed, lease_until, .required = true, .doc = "When others may take it"));
SHAPE(webhook_attempt, "An attempt to deliver",
	FIELD(webhook_attempt, delivery, .required = true, .doc = "The delivery"),
	FIELD(webhook_attempt, number, .required = true, .min = 1, .doc = "Which attempt, from 1"),
	FIELD(webhook_attempt, at, .required = true, .doc = "When it began"),
	FIELD(webhook_attempt, outcome, .required = true, .max = 40, .doc = "delivered; retry: another follows; dead: none follows; late: the delivery had ended"),
	FIELD(webhook_attempt, status, .doc = "HTTP status; null: there was no answer"),
	FIELD(webhook_attempt, duration_ms, .required = true, .min = 0, .doc = "Milliseconds that it took"),
	FIELD(webhook_attempt, fault, .max = WEBHOOK_FAULT, .doc = "Why it failed"),
	FIELD(webhook_attempt, next_at, .doc = "When the next may begin"));
SHAPE(webhook_attempted, "A worker delivered, or tried to, and gives the endpoint back",
	FIELD(webhook_attempted, claim, .required = true, .doc = "The event by which it had taken it"),
	FIELD(webhook_attempted, attempts, .of = &webhook_attempt_shape, .max = WEBHOOK_BATCH, .doc = "The attempts, in their order"));
SHAPE(webhook_replayed, "Dead letters are to be delivered again",
	FIELD(webhook_replayed, delivery, .doc = "The one; null: all of the webhook"),
	FIELD(webhook_replayed, deliveries, .required = true, .min = 1, .doc = "How many"));
SHAPE(checkpoint_announced, "A checkpoint that webhooks are told of",
	FIELD(checkpoint_announced, size, .required = true, .min = 1, .doc = "Events that it covers"),
	FIELD(checkpoint_announced, checkpoint, .required = true, .max = 8192, .doc = "The signed note"));
/* clang-format on */

EVENT_TYPE(webhook_claimed, "webhook.claimed", webhook_claimed,
    "A worker took an endpoint, to deliver to it");
EVENT_TYPE(webhook_attempted, "webhook.attempted", webhook_attempted,
    "A worker attempted deliveries to an endpoint");
EVENT_TYPE(webhook_replayed, "webhook.replayed", webhook_replayed,
    "An operator has dead letters delivered again");
EVENT_TYPE(checkpoint_announced, "checkpoint.announced", checkpoint_announced,
    "A checkpoint was announced to the webhooks that want them");

static int
project_webhook_claimed(struct db *db, const struct event *ev,
    const struct webhook_claimed *d, struct err *e)
{
	return db_run(db, e,
	    "UPDATE webhook SET claim = ?, lease_until = ? WHERE uid = ?",
	    "itu", (int64_t)ev->seq, d->lease_until, ev->subject);
}

static int
insert_attempt(struct db *db, const struct event *ev,
    const struct webhook_attempt *x, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO webhook_attempt (delivery_id, number, seq, at, worker,"
	    " outcome, http_status, duration_ms, fault, next_at)"
	    " SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM webhook_delivery"
	    " WHERE uid = ?",
	    "iitssoistu", x->number, (int64_t)ev->seq, x->at, ev->actor.id,
	    x->outcome, x->status, x->duration_ms, x->fault, x->next_at,
	    x->delivery);
}

static int
project_attempt(struct db *db, const struct event *ev,
    const struct webhook_attempt *x, struct err *e)
{
	bool retry = str_is(x->outcome, "retry");
	struct instant ended = { retry ? 0 : ev->at.us };

	if (insert_attempt(db, ev, x, e) ||
	    db_run(db, e,
		"UPDATE webhook_delivery SET attempts = ? WHERE uid = ?", "iu",
		x->number, x->delivery))
		return -1;
	if (str_is(x->outcome, "late"))
		return 0;
	return db_run(db, e,
	    "UPDATE webhook_delivery SET status = ?, next_at = ?, ended_at = ?"
	    " WHERE uid = ?",
	    "sttu", retry ? STR("queued") : x->outcome, x->next_at, ended,
	    x->delivery);
}

static bool
is_ailing(const struct webhook_attempted *d)
{
	const struct webhook_attempt *items = d->attempts.items;

	for (size_t i = 0; i < d->attempts.n; i++)
		if (items[i].duration_ms > SLOW_MS ||
		    (i + 1 == d->attempts.n && items[i].fault.p))
			return true;
	return false;
}

static int
project_webhook_attempted(struct db *db, const struct event *ev,
    const struct webhook_attempted *d, struct err *e)
{
	const struct webhook_attempt *items = d->attempts.items;

	for (size_t i = 0; i < d->attempts.n; i++)
		if (project_attempt(db, ev, &items[i], e))
			return -1;
	if (db_run(db, e,
		"UPDATE webhook SET served_at = ?, ailing = ? WHERE uid = ?",
		"tfu", ev->at, is_ailing(d), ev->subject))
		return -1;
	return db_run(db, e,
	    "UPDATE webhook SET claim = NULL, lease_until = NULL"
	    " WHERE uid = ? AND claim = ?",
	    "ui", ev->subject, d->claim);
}

static int
project_webhook_replayed(struct db *db, const struct event *ev,
    const struct webhook_replayed *d, struct err *e)
{
	return db_run(db, e,
	    "UPDATE webhook_delivery SET status = 'queued', before = attempts,"
	    " next_at = ?1, ended_at = NULL WHERE status = 'dead'"
	    " AND webhook_id = (SELECT id FROM webhook WHERE uid = ?2)"
	    " AND (?3 IS NULL OR uid = ?3)",
	    "tuu", ev->at, ev->subject, d->delivery);
}

static int
project_checkpoint_announced(struct db *db, const struct event *ev,
    const struct checkpoint_announced *d, struct err *e)
{
	struct arena *a = arena_new();
	struct json *detail = json_object(a);
	struct str text;
	int failed;

	json_put_str(a, detail, "checkpoint", d->checkpoint);
	json_put_int(a, detail, "size", d->size);
	failed = canon_str(a, detail, &text, e) ||
		 webhook_offer_all(db, ev, WEBHOOK_CHECKPOINT, text, e);
	arena_free(a);
	return failed ? -1 : 0;
}
