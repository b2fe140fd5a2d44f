/*
 * set-limits of application, credential and oauth-client: all three numbers at
 * once, and what is not given is not set any more.
 */
#include "domain/limits/events.h"
#include "domain/limits/group.h"

struct set_limits {
	struct uid uid;
	struct opt_int requests_per_second, burst, monthly;
	struct str reason;
};

struct limits_reply {
	int64_t id;
	struct uid uid;
	struct opt_int requests_per_second, burst, monthly;
	struct str reason;
	struct instant changed_at;
};

/* clang-format off */
SHAPE(set_limits, "Limits to set, all three at once; what is not given is not set any more",
	FIELD(set_limits, uid, .required = true, .doc = "Identifier of the record"),
	FIELD(set_limits, requests_per_second, .min = 1, .max = LIMIT_RATE_MAX, .doc = "Requests a second"),
	FIELD(set_limits, burst, .min = 1, .max = LIMIT_BURST_MAX, .doc = "Requests at once"),
	FIELD(set_limits, monthly, .min = 1, .max = LIMIT_MONTHLY_MAX, .doc = "Requests in a calendar month, UTC"),
	FIELD(set_limits, reason, .max = 280, .format = &format_text, .doc = "Why, for the record"));
SHAPE(limits_reply, "Limits that were set",
	FIELD(limits_reply, id, .doc = "Number of the application, credential or OAuth client"),
	FIELD(limits_reply, uid, .doc = "Its identifier"),
	FIELD(limits_reply, requests_per_second, .doc = "Requests a second; null: not set"),
	FIELD(limits_reply, burst, .doc = "Requests at once; null: not set"),
	FIELD(limits_reply, monthly, .doc = "Requests in a calendar month, UTC; null: not set"),
	FIELD(limits_reply, reason, .doc = "Why"),
	FIELD(limits_reply, changed_at, .doc = "When"));
/* clang-format on */

WRITE_OPERATION(application_set_limits, set_limits, limits_reply,
    .id = "application.set_limits", .command = "application set-limits",
    .status = 200, .product = "Core Platform",
    .summary =
	"Set how many requests an application may make, all its credentials together",
    .emits = EMITS(&event_application_limits_set));
WRITE_OPERATION(credential_set_limits, set_limits, limits_reply,
    .id = "credential.set_limits", .command = "credential set-limits",
    .status = 200, .product = "Core Platform",
    .summary = "Set how many requests one credential may make",
    .emits = EMITS(&event_credential_limits_set));
WRITE_OPERATION(oauth_client_set_limits, set_limits, limits_reply,
    .id = "oauth_client.set_limits", .command = "oauth-client set-limits",
    .status = 200, .product = "Core Platform",
    .summary = "Set how many requests one OAuth client may make",
    .emits = EMITS(&event_oauth_client_limits_set));

static int
emit(struct context *c, const struct set_limits *in,
    const struct event_type *type, const char *kind, int64_t id, struct err *e)
{
	struct limits_set data = { in->requests_per_second, in->burst,
		in->monthly, in->reason };

	if (id == 0)
		return err_set(e, &err_not_found, "there is no such %s", kind);
	return context_emit(c, type, kind, in->uid, &data, e);
}

static int
reply(struct context *c, const struct event *ev, const struct event_type *type,
    struct limits_reply *out, struct err *e)
{
	struct limits_set data;

	if (context_event_data(c, ev, type, &data, e))
		return -1;
	*out = (struct limits_reply){
		.uid = ev->subject,
		.requests_per_second = data.requests_per_second,
		.burst = data.burst,
		.monthly = data.monthly,
		.reason = data.reason,
		.changed_at = ev->at,
	};
	return 0;
}

static int
application_id(struct db *db, struct uid uid, int64_t *id, struct err *e)
{
	return db_get_int(
	    db, id, 0, e, "SELECT id FROM application WHERE uid = ?", "u", uid);
}

static int
credential_id(struct db *db, struct uid uid, int64_t *id, struct err *e)
{
	return db_get_int(
	    db, id, 0, e, "SELECT id FROM credential WHERE uid = ?", "u", uid);
}

static int
client_id(struct db *db, struct uid uid, int64_t *id, struct err *e)
{
	return db_get_int(db, id, 0, e,
	    "SELECT id FROM oauth_client WHERE uid = ?", "u", uid);
}

static int
application_set_limits_decide(
    struct context *c, const struct set_limits *in, struct err *e)
{
	int64_t id;

	if (application_id(c->db, in->uid, &id, e))
		return -1;
	return emit(c, in, &event_application_limits_set, "application", id, e);
}

static int
application_set_limits_reply(struct context *c, const struct event *ev,
    struct limits_reply *out, struct err *e)
{
	if (reply(c, ev, &event_application_limits_set, out, e))
		return -1;
	return application_id(c->db, ev->subject, &out->id, e);
}

static int
credential_set_limits_decide(
    struct context *c, const struct set_limits *in, struct err *e)
{
	int64_t id;

	if (credential_id(c->db, in->uid, &id, e))
		return -1;
	return emit(c, in, &event_credential_limits_set, "credential", id, e);
}

static int
credential_set_limits_reply(struct context *c, const struct event *ev,
    struct limits_reply *out, struct err *e)
{
	if (reply(c, ev, &event_credential_limits_set, out, e))
		return -1;
	return credential_id(c->db, ev->subject, &out->id, e);
}

static int
oauth_client_set_limits_decide(
    struct context *c, const struct set_limits *in, struct err *e)
{
	int64_t id;

	if (client_id(c->db, in->uid, &id, e))
		return -1;
	if (id == 0)
		return err_set(
		    e, &err_not_found, "there is no such OAuth client");
	return emit(
	    c, in, &event_oauth_client_limits_set, "oauth_client", id, e);
}

static int
oauth_client_set_limits_reply(struct context *c, const struct event *ev,
    struct limits_reply *out, struct err *e)
{
	if (reply(c, ev, &event_oauth_client_limits_set, out, e))
		return -1;
	return client_id(c->db, ev->subject, &out->id, e);
}
