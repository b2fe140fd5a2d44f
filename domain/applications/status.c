/*
 * application suspend, resume and revoke: one rule each, which statuses it may
 * come from.
 */
#include "domain/applications/events.h"
#include "domain/applications/group.h"

/* clang-format off */
SHAPE(change_request, "The record to change",
	FIELD(change_request, uid, .required = true, .doc = "Its identifier"),
	FIELD(change_request, reason, .max = 280, .format = &format_text, .doc = "Why, for the record"));
SHAPE(status_reply, "A changed status",
	FIELD(status_reply, id, .doc = "Number"),
	FIELD(status_reply, uid, .doc = "Identifier"),
	FIELD(status_reply, status, .doc = "The status now"),
	FIELD(status_reply, reason, .doc = "Why"),
	FIELD(status_reply, changed_at, .doc = "When"));
/* clang-format on */

WRITE_OPERATION(application_suspend, change_request, status_reply,
    .id = "application.suspend", .command = "application suspend",
    .status = 200, .product = "Core Platform",
    .summary = "Refuse an application's credentials for now",
    .emits = EMITS(&event_application_suspended));
WRITE_OPERATION(application_resume, change_request, status_reply,
    .id = "application.resume", .command = "application resume", .status = 200,
    .product = "Core Platform",
    .summary = "Accept a suspended application's credentials again",
    .emits = EMITS(&event_application_resumed));
WRITE_OPERATION(application_revoke, change_request, status_reply,
    .id = "application.revoke", .command = "application revoke", .status = 200,
    .product = "Core Platform",
    .summary = "Refuse an application's credentials for ever",
    .emits = EMITS(&event_application_revoked));

static int
change(struct context *c, const struct change_request *in, const char *from,
    const char *or_from, const struct event_type *type, struct err *e)
{
	struct status_changed data = { in->reason };
	struct str status = STR_NONE;
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT status FROM application WHERE uid = ?", "u", in->uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		status = rows_str(&r, 0, c->arena);
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_set(
		    e, &err_not_found, "there is no such application");
	if (!str_is(status, from) && !str_is(status, or_from))
		return err_set(e, &err_conflict, "the application is %.*s",
		    STR_ARGS(status));
	return context_emit(c, type, "application", in->uid, &data, e);
}

static int
reply(struct context *c, const struct event *ev, const struct event_type *type,
    const char *status, struct status_reply *out, struct err *e)
{
	struct status_changed data;

	if (context_event_data(c, ev, type, &data, e))
		return -1;
	*out = (struct status_reply){
		.uid = ev->subject,
		.status = str_from(status),
		.reason = data.reason,
		.changed_at = ev->at,
	};
	return db_get_int(c->db, &out->id, 0, e,
	    "SELECT id FROM application WHERE uid = ?", "u", ev->subject);
}

static int
application_suspend_decide(
    struct context *c, const struct change_request *in, struct err *e)
{
	return change(
	    c, in, "active", "active", &event_application_suspended, e);
}

static int
application_suspend_reply(struct context *c, const struct event *ev,
    struct status_reply *out, struct err *e)
{
	return reply(c, ev, &event_application_suspended, "suspended", out, e);
}

static int
application_resume_decide(
    struct context *c, const struct change_request *in, struct err *e)
{
	return change(
	    c, in, "suspended", "suspended", &event_application_resumed, e);
}

static int
application_resume_reply(struct context *c, const struct event *ev,
    struct status_reply *out, struct err *e)
{
	return reply(c, ev, &event_application_resumed, "active", out, e);
}

static int
application_revoke_decide(
    struct context *c, const struct change_request *in, struct err *e)
{
	return change(
	    c, in, "active", "suspended", &event_application_revoked, e);
}

static int
application_revoke_reply(struct context *c, const struct event *ev,
    struct status_reply *out, struct err *e)
{
	return reply(c, ev, &event_application_revoked, "revoked", out, e);
}
