/*
 * approver revoke. What the person decided before stands.
 */
#include "domain/approvers/events.h"
#include "domain/approvers/group.h"

struct approver_revoke {
	struct uid uid;
	struct str reason;
};

struct approver_ended {
	int64_t id;
	struct uid uid;
	struct str status, reason;
	struct instant changed_at;
};

/* clang-format off */
SHAPE(approver_revoke, "The approver to revoke",
	FIELD(approver_revoke, uid, .required = true, .doc = "Its identifier"),
	FIELD(approver_revoke, reason, .required = true, .min = 1, .max = 280, .format = &format_text, .doc = "Why; it stays for ever, so it must not name the person"));
SHAPE(approver_ended, "An approver whose decisions are taken no more",
	FIELD(approver_ended, id, .doc = "Number"),
	FIELD(approver_ended, uid, .doc = "Identifier"),
	FIELD(approver_ended, status, .doc = "revoked"),
	FIELD(approver_ended, reason, .doc = "Why"),
	FIELD(approver_ended, changed_at, .doc = "When"));
/* clang-format on */

WRITE_OPERATION(approver_revoke, approver_revoke, approver_ended,
    .id = "approver.revoke", .command = "approver revoke", .status = 200,
    .product = "Core Platform", .reply_is_pure = true,
    .summary = "Take no more decisions of an approver",
    .emits = EMITS(&event_approver_revoked));

static int
approver_revoke_decide(
    struct context *c, const struct approver_revoke *in, struct err *e)
{
	struct approver_revoked data = { .reason = in->reason };
	int64_t active;

	if (db_get_int(c->db, &data.id, 0, e,
		"SELECT id FROM approver WHERE uid = ?", "u", in->uid) ||
	    db_get_int(c->db, &active, 0, e,
		"SELECT status = 'active' FROM approver WHERE uid = ?", "u",
		in->uid))
		return -1;
	if (data.id == 0)
		return err_set(e, &err_not_found, "there is no such approver");
	if (!active)
		return err_set(e, &err_conflict, "the approver is revoked");
	return context_emit(
	    c, &event_approver_revoked, "approver", in->uid, &data, e);
}

static int
approver_revoke_reply(struct context *c, const struct event *ev,
    struct approver_ended *out, struct err *e)
{
	struct approver_revoked data;

	if (context_event_data(c, ev, &event_approver_revoked, &data, e))
		return -1;
	*out = (struct approver_ended){
		.id = data.id,
		.uid = ev->subject,
		.status = STR("revoked"),
		.reason = data.reason,
		.changed_at = ev->at,
	};
	return 0;
}
