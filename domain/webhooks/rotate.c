/*
 * webhook rotate-secret: other keys, shown once. For a day the previous ones
 * sign as well, so a receiver takes the new ones when it likes.
 */
#include "domain/webhooks/group.h"
#include "domain/webhooks/secret.h"

#define OVERLAP_US (24 * INT64_C(3600000000))

struct webhook_which {
	struct uid uid;
};

struct webhook_rotated {
	struct uid uid;
	struct str secret, public_key;
	bool secret_shown;
	struct instant previous_until, rotated_at;
};

/* clang-format off */
SHAPE(webhook_which, "Which webhook",
	FIELD(webhook_which, uid, .required = true, .doc = "Identifier of the webhook"));
SHAPE(webhook_rotated, "A webhook with its new keys",
	FIELD(webhook_rotated, uid, .doc = "Identifier"),
	FIELD(webhook_rotated, secret, .doc = "The secret of v1 signatures, shown this once"),
	FIELD(webhook_rotated, public_key, .doc = "The public key of v1a signatures"),
	FIELD(webhook_rotated, secret_shown, .doc = "The secret was shown before and is not shown again"),
	FIELD(webhook_rotated, previous_until, .doc = "Until when the previous keys sign as well"),
	FIELD(webhook_rotated, rotated_at, .doc = "When"));
/* clang-format on */

PREPARE(webhook_rotate_secret, webhook_which)
WRITE_OPERATION(webhook_rotate_secret, webhook_which, webhook_rotated,
    .id = "webhook.rotate_secret", .command = "webhook rotate-secret",
    .status = 200, .product = "Agents & MCP",
    .summary = "Replace a webhook's secret; the previous one signs along for "
	       "24 hours",
    .prepare = webhook_rotate_secret_prepare_any, .reply_is_pure = true,
    .emits = EMITS(&event_webhook_secret_rotated));

static int
webhook_rotate_secret_prepare(
    struct context *c, const struct webhook_which *in, struct err *e)
{
	struct webhook_keys *keys = ARENA_NEW(c->arena, struct webhook_keys);

	c->prepared = keys;
	return webhook_keys_make(c, in->uid, keys, e);
}

static int
webhook_rotate_secret_decide(
    struct context *c, const struct webhook_which *in, struct err *e)
{
	const struct webhook_keys *keys = c->prepared;
	struct webhook_secret_rotated data = {
		.secret = keys->box,
		.public_key = keys->public_key,
		.previous_until = { c->now.us + OVERLAP_US },
	};
	struct webhook_row row;

	if (webhook_find(c, in->uid, &row, e))
		return -1;
	if (str_is(row.status, "revoked"))
		return err_set(e, &err_conflict, "the webhook is revoked");
	c->secret = keys->secret;
	return context_emit(
	    c, &event_webhook_secret_rotated, "webhook", in->uid, &data, e);
}

static int
webhook_rotate_secret_reply(struct context *c, const struct event *ev,
    struct webhook_rotated *out, struct err *e)
{
	struct webhook_secret_rotated data;

	if (context_event_data(c, ev, &event_webhook_secret_rotated, &data, e))
		return -1;
	*out = (struct webhook_rotated){
		.uid = ev->subject,
		.secret = c->secret,
		.public_key = data.public_key,
		.secret_shown = !c->secret.p,
		.previous_until = data.previous_until,
		.rotated_at = ev->at,
	};
	return 0;
}
