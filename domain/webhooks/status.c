/*
 * Approving and revoking. An application revokes its own webhooks, an operator
 * any; only operators approve, a webhook of production or one whose endpoint
 * had said that it is gone.
 */
#include "domain/webhooks/group.h"

#include "ledger/base/embed.h"

struct webhook_uid {
	struct uid uid;
};

struct webhook_reason {
	struct uid uid;
	struct str reason;
};

struct webhook_status {
	struct uid uid;
	struct str status, reason;
	struct instant changed_at;
};

/* clang-format off */
SHAPE(webhook_uid, "Which webhook",
	FIELD(webhook_uid, uid, .place = IN_PATH, .required = true, .doc = "Identifier of the webhook"));
SHAPE(webhook_reason, "Which webhook, and why",
	FIELD(webhook_reason, uid, .required = true, .doc = "Identifier of the webhook"),
	FIELD(webhook_reason, reason, .max = 280, .format = &format_text, .doc = "Why"));
SHAPE(webhook_status, "The status of a webhook",
	FIELD(webhook_status, uid, .required = true, .doc = "Identifier"),
	FIELD(webhook_status, status, .required = true, .doc = "active or revoked"),
	FIELD(webhook_status, reason, .doc = "Why"),
	FIELD(webhook_status, changed_at, .required = true, .doc = "When"));
/* clang-format on */

EMBED(webhook_revoke_examples,
    "domain/webhooks/examples/agent_execution.webhook_revoke.json");

WRITE_OPERATION(webhook_revoke, webhook_uid, webhook_status,
    .id = "agent_execution.webhook_revoke", .method = "DELETE",
    .path = "/api/v2/agent-execution/webhooks/{uid}",
    .command = "webhook revoke", .examples = webhook_revoke_examples,
    .scope = "agent:execution:webhooks", .entitlement = "agents",
    .product = "Agents & MCP", .status = 200, .no_body = true,
    .summary = "Revoke a webhook", .reply_is_pure = true,
    .emits = EMITS(&event_webhook_revoked));
WRITE_OPERATION(webhook_approve, webhook_reason, webhook_status,
    .id = "webhook.approve", .command = "webhook approve", .status = 200,
    .product = "Agents & MCP",
    .summary = "Approve a webhook that waits for it, or one that was disabled",
    .reply_is_pure = true, .emits = EMITS(&event_webhook_approved));

/* The same refusal for one of another application, and in the same time: in
 * vain a row is read, too. */
int
webhook_find(
    struct context *c, struct uid uid, struct webhook_row *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, application, url, status, public_key,"
		" uid = ?1 AND (?2 IS NULL OR application = ?2)"
		" FROM webhook WHERE uid = coalesce((SELECT uid FROM webhook"
		"  WHERE uid <= ?1 ORDER BY uid DESC LIMIT 1),"
		" (SELECT min(uid) FROM webhook))",
		"uu", uid, c->caller->application))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		found = rows_bool(&r, 6);
	if (found == 1)
		*out = (struct webhook_row){
			.id = rows_int(&r, 0),
			.uid = rows_uid(&r, 1),
			.application = rows_uid(&r, 2),
			.url = rows_str(&r, 3, c->arena),
			.status = rows_str(&r, 4, c->arena),
			.public_key = rows_str(&r, 5, c->arena),
		};
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found, "there is no such webhook");
	return 0;
}

static int
webhook_revoke_decide(
    struct context *c, const struct webhook_uid *in, struct err *e)
{
	struct webhook_changed data = { STR_NONE };
	struct webhook_row row;

	if (webhook_find(c, in->uid, &row, e))
		return -1;
	if (str_is(row.status, "revoked"))
		return err_set(e, &err_conflict, "the webhook is revoked");
	return context_emit(
	    c, &event_webhook_revoked, "webhook", in->uid, &data, e);
}

static int
reply(struct context *c, const struct event *ev, const struct event_type *type,
    const char *status, struct webhook_status *out, struct err *e)
{
	struct webhook_changed data;

	if (context_event_data(c, ev, type, &data, e))
		return -1;
	*out = (struct webhook_status){
		.uid = ev->subject,
		.status = str_from(status),
		.reason = data.reason,
		.changed_at = ev->at,
	};
	return 0;
}

static int
webhook_revoke_reply(struct context *c, const struct event *ev,
    struct webhook_status *out, struct err *e)
{
	return reply(c, ev, &event_webhook_revoked, "revoked", out, e);
}

static int
webhook_approve_decide(
    struct context *c, const struct webhook_reason *in, struct err *e)
{
	struct webhook_changed data = { in->reason };
	struct webhook_row row;

	if (webhook_find(c, in->uid, &row, e))
		return -1;
	if (!str_is(row.status, "pending_approval") &&
	    !str_is(row.status, "disabled"))
		return err_set(e, &err_conflict, "the webhook is %.*s",
		    STR_ARGS(row.status));
	return context_emit(
	    c, &event_webhook_approved, "webhook", in->uid, &data, e);
}

static int
webhook_approve_reply(struct context *c, const struct event *ev,
    struct webhook_status *out, struct err *e)
{
	return reply(c, ev, &event_webhook_approved, "active", out, e);
}
