/*
 * webhook replay: dead letters are queued again, with all attempts before
 * them.
 */
#include "domain/webhooks/group.h"

struct webhook_replay {
	struct uid delivery, webhook;
};

struct webhook_replay_reply {
	struct uid webhook_uid, delivery_uid;
	int64_t deliveries;
	struct instant replayed_at;
};

/* clang-format off */
SHAPE(webhook_replay, "Dead letters to deliver again",
	FIELD(webhook_replay, delivery, .doc = "The one with this identifier"),
	FIELD(webhook_replay, webhook, .doc = "All of this webhook"));
SHAPE(webhook_replay_reply, "Dead letters that are delivered again",
	FIELD(webhook_replay_reply, webhook_uid, .doc = "The webhook"),
	FIELD(webhook_replay_reply, delivery_uid, .doc = "The one; null: all of the webhook"),
	FIELD(webhook_replay_reply, deliveries, .doc = "How many"),
	FIELD(webhook_replay_reply, replayed_at, .doc = "When"));
/* clang-format on */

PREPARE(webhook_replay, webhook_replay)
WRITE_OPERATION(webhook_replay, webhook_replay, webhook_replay_reply,
    .id = "webhook.replay", .command = "webhook replay", .status = 200,
    .product = "Agents & MCP", .summary = "Deliver dead letters again",
    .prepare = webhook_replay_prepare_any, .reply_is_pure = true,
    .emits = EMITS(&event_webhook_replayed));

static int
webhook_replay_prepare(
    struct context *c, const struct webhook_replay *in, struct err *e)
{
	if (uid_is_none(in->delivery) == uid_is_none(in->webhook))
		return err_add_field(e, c->arena, "pointer", "#/delivery",
		    "one_of", "give either a delivery or a webhook");
	return 0;
}

static int
find_webhook(
    struct context *c, struct uid delivery, struct uid *webhook, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT w.uid FROM webhook_delivery d"
		" JOIN webhook w ON w.id = d.webhook_id WHERE d.uid = ?",
		"u", delivery))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*webhook = rows_uid(&r, 0);
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found, "there is no such delivery");
	return 0;
}

static int
count_dead(struct context *c, int64_t webhook, struct uid delivery, int64_t *n,
    struct err *e)
{
	return db_get_int(c->db, n, 0, e,
	    "SELECT count(*) FROM webhook_delivery WHERE status = 'dead'"
	    " AND webhook_id = ?1 AND (?2 IS NULL OR uid = ?2)",
	    "iu", webhook, delivery);
}

static int
webhook_replay_decide(
    struct context *c, const struct webhook_replay *in, struct err *e)
{
	struct webhook_replayed data = { .delivery = in->delivery };
	struct uid webhook = in->webhook;
	struct webhook_row row;

	if (uid_is_none(webhook) && find_webhook(c, in->delivery, &webhook, e))
		return -1;
	if (webhook_find(c, webhook, &row, e) ||
	    count_dead(c, row.id, in->delivery, &data.deliveries, e))
		return -1;
	if (!str_is(row.status, "active"))
		return err_set(e, &err_conflict, "the webhook is %.*s%s",
		    STR_ARGS(row.status),
		    str_is(row.status, "revoked")
			? ": nothing is sent there any more"
			: ": webhook approve makes it active");
	if (data.deliveries == 0)
		return err_set(e, &err_conflict, "there is no dead letter");
	return context_emit(
	    c, &event_webhook_replayed, "webhook", webhook, &data, e);
}

static int
webhook_replay_reply(struct context *c, const struct event *ev,
    struct webhook_replay_reply *out, struct err *e)
{
	struct webhook_replayed data;

	if (context_event_data(c, ev, &event_webhook_replayed, &data, e))
		return -1;
	*out = (struct webhook_replay_reply){
		.webhook_uid = ev->subject,
		.delivery_uid = data.delivery,
		.deliveries = data.deliveries,
		.replayed_at = ev->at,
	};
	return 0;
}
