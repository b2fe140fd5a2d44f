/* What becomes of a registration. */
#include "domain/webhooks/events.h"

#include "domain/webhooks/group.h"
#include "domain/words.h"
#include "ledger/codec/text.h"

#define BOX_BYTES 96

/* clang-format off */
SHAPE(webhook_registered, "A webhook was registered",
	FIELD(webhook_registered, id, .required = true, .doc = "Number"),
	FIELD(webhook_registered, application, .required = true, .doc = "The application whose events it is told"),
	FIELD(webhook_registered, url, .required = true, .max = WEBHOOK_URL_MAX, .doc = "Endpoint"),
	FIELD(webhook_registered, base_url, .required = true, .max = 1000, .doc = "Public URL of the service then, which the bodies' own URLs begin with"),
	FIELD(webhook_registered, description, .max = 280, .doc = "What it is for"),
	FIELD(webhook_registered, events, .required = true, .max = 100, .doc = "Names that it wants"),
	FIELD(webhook_registered, status, .required = true, .max = 40, .doc = "active or pending_approval"),
	FIELD(webhook_registered, secret, .required = true, .max = WEBHOOK_BOX, .doc = "Its two keys, encrypted, base64"),
	FIELD(webhook_registered, public_key, .required = true, .max = 60, .doc = "Public key of its v1a signatures"));
SHAPE(webhook_changed, "The status of a webhook changed",
	FIELD(webhook_changed, reason, .max = 280, .doc = "Why"));
SHAPE(webhook_secret_rotated, "A webhook got other keys",
	FIELD(webhook_secret_rotated, secret, .required = true, .max = WEBHOOK_BOX, .doc = "Its two new keys, encrypted, base64"),
	FIELD(webhook_secret_rotated, public_key, .required = true, .max = 60, .doc = "Public key of its v1a signatures"),
	FIELD(webhook_secret_rotated, previous_until, .required = true, .doc = "Until when the previous keys sign as well"));
/* clang-format on */

EVENT_TYPE(webhook_registered, "webhook.registered", webhook_registered,
    "An application registered an endpoint for its events");
EVENT_TYPE(webhook_approved, "webhook.approved", webhook_changed,
    "An operator approved an endpoint: events are delivered from here on");
EVENT_TYPE(webhook_revoked, "webhook.revoked", webhook_changed,
    "A webhook was revoked: nothing is delivered any more");
EVENT_TYPE(webhook_disabled, "webhook.disabled", webhook_changed,
    "An endpoint said that it is gone: nothing is delivered until an operator "
    "approves it again");
EVENT_TYPE(webhook_secret_rotated, "webhook.secret_rotated",
    webhook_secret_rotated, "A webhook's secret was replaced");

static int
subscribe(
    struct db *db, struct uid webhook, struct str_list names, struct err *e)
{
	for (size_t i = 0; i < names.n; i++)
		if (db_run(db, e,
			"INSERT INTO webhook_subscription"
			" (event, application, webhook_id)"
			" SELECT ?, application, id FROM webhook WHERE uid = ?",
			"su", names.items[i], webhook))
			return -1;
	return 0;
}

static int
decode_box(
    struct str text, char bytes[BOX_BYTES], struct str *box, struct err *e)
{
	box->p = bytes;
	if (!base64_decode(text, bytes, BOX_BYTES, &box->n))
		return err_set(e, &err_corrupt, "secret is not base64");
	return 0;
}

static int
insert_webhook(struct db *db, const struct event *ev,
    const struct webhook_registered *d, struct str names, struct err *e)
{
	char bytes[BOX_BYTES];
	struct str box;

	if (decode_box(d->secret, bytes, &box, e))
		return -1;
	return db_run(db, e,
	    "INSERT INTO webhook (id, uid, application, url, base_url,"
	    " description, events, status, secret, public_key, ailing,"
	    " created_at, changed_at)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
	    "iuusssssbstt", d->id, ev->subject, d->application, d->url,
	    d->base_url, d->description, names, d->status, box, d->public_key,
	    ev->at, ev->at);
}

static int
project_webhook_registered(struct db *db, const struct event *ev,
    const struct webhook_registered *d, struct err *e)
{
	struct arena *a = arena_new();
	int failed = insert_webhook(db, ev, d, words_join(a, d->events), e);

	arena_free(a);
	if (failed || !str_is(d->status, "active"))
		return failed;
	return subscribe(db, ev->subject, d->events, e);
}

static int
set_status(
    struct db *db, const struct event *ev, const char *status, struct err *e)
{
	return db_run(db, e,
	    "UPDATE webhook SET status = ?, changed_at = ? WHERE uid = ?",
	    "stu", str_from(status), ev->at, ev->subject);
}

/* The names that it was registered with. */
static int
subscribe_again(
    struct db *db, const struct event *ev, struct arena *a, struct err *e)
{
	struct str names = STR_NONE;
	struct rows r;

	if (db_query(db, &r, e, "SELECT events FROM webhook WHERE uid = ?", "u",
		ev->subject))
		return -1;
	if (rows_next(&r, e) == 1)
		names = rows_str(&r, 0, a);
	if (rows_end(&r, e))
		return -1;
	return subscribe(db, ev->subject, words_split(a, names), e);
}

static int
project_webhook_approved(struct db *db, const struct event *ev,
    const struct webhook_changed *d, struct err *e)
{
	struct arena *a = arena_new();
	int failed =
	    set_status(db, ev, "active", e) || subscribe_again(db, ev, a, e);

	(void)d;
	arena_free(a);
	return failed ? -1 : 0;
}

/* What was still to be sent becomes dead letters. */
static int
end(struct db *db, const struct event *ev, const char *status, struct err *e)
{
	if (set_status(db, ev, status, e) ||
	    db_run(db, e,
		"DELETE FROM webhook_subscription WHERE webhook_id ="
		" (SELECT id FROM webhook WHERE uid = ?)",
		"u", ev->subject))
		return -1;
	return db_run(db, e,
	    "UPDATE webhook_delivery SET status = 'dead', next_at = NULL,"
	    " ended_at = ? WHERE status = 'queued' AND webhook_id ="
	    " (SELECT id FROM webhook WHERE uid = ?)",
	    "tu", ev->at, ev->subject);
}

static int
project_webhook_revoked(struct db *db, const struct event *ev,
    const struct webhook_changed *d, struct err *e)
{
	(void)d;
	return end(db, ev, "revoked", e);
}

static int
project_webhook_disabled(struct db *db, const struct event *ev,
    const struct webhook_changed *d, struct err *e)
{
	(void)d;
	return end(db, ev, "disabled", e);
}

static int
project_webhook_secret_rotated(struct db *db, const struct event *ev,
    const struct webhook_secret_rotated *d, struct err *e)
{
	char bytes[BOX_BYTES];
	struct str box;

	if (decode_box(d->secret, bytes, &box, e))
		return -1;
	return db_run(db, e,
	    "UPDATE webhook SET previous_secret = secret, previous_until = ?,"
	    " secret = ?, public_key = ?, changed_at = ? WHERE uid = ?",
	    "tbstu", d->previous_until, box, d->public_key, ev->at,
	    ev->subject);
}
