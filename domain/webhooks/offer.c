/*
 * The outbox. A delivery follows from the event and the registrations as they
 * stood then, its uid too, so a read model made again holds the same ones.
 */
#include "domain/webhooks.h"

#include <assert.h>
#include <string.h>

#include "domain/webhooks/group.h"

struct uid
webhook_uid_of(const struct str *parts, size_t n)
{
	struct digest digest = sha256_parts(parts, n);
	struct uid uid;

	memcpy(uid.b, digest.b, sizeof uid.b);
	uid.b[6] = (uint8_t)((uid.b[6] & 0x0f) | 0x80);
	uid.b[8] = (uint8_t)((uid.b[8] & 0x3f) | 0x80);
	return uid;
}

static struct uid
delivery_uid(const struct event *ev, struct uid webhook)
{
	const struct str parts[] = { STR("webhook delivery\n"),
		{ (const char *)ev->uid.b, sizeof ev->uid.b },
		{ (const char *)webhook.b, sizeof webhook.b } };

	return webhook_uid_of(parts, 3);
}

struct offer {
	const struct event *ev;
	const char *name;
	struct str detail;
};

static int
add(struct db *db, const struct offer *o, int64_t id, struct uid webhook,
    struct err *e)
{
	const struct event *ev = o->ev;

	return db_run(db, e,
	    "INSERT INTO webhook_delivery (uid, webhook_id, event, seq,"
	    " event_hash, at, subject, detail, status, attempts, before,"
	    " next_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', 0, 0, ?)",
	    "uisidtust", delivery_uid(ev, webhook), id, str_from(o->name),
	    (int64_t)ev->seq, ev->hash, ev->at, ev->subject, o->detail, ev->at);
}

/* The rows of a query that gives id and uid of registrations; ends it. */
static int
add_each(struct db *db, const struct offer *o, struct rows *r, struct err *e)
{
	int failed = 0;

	while (!failed && rows_next(r, e) == 1)
		failed = add(db, o, rows_int(r, 0), rows_uid(r, 1), e);
	return rows_end(r, e) ? -1 : failed;
}

int
webhook_offer(struct db *db, const struct event *ev, const char *name,
    struct uid application, struct err *e)
{
	struct offer o = { ev, name, STR_NONE };
	struct rows r;

	assert(webhook_name_find(str_from(name)));
	if (db_query(db, &r, e,
		"SELECT w.id, w.uid FROM webhook_subscription s"
		" JOIN webhook w ON w.id = s.webhook_id"
		" WHERE s.event = ? AND s.application = ? ORDER BY w.id",
		"su", str_from(name), application))
		return -1;
	return add_each(db, &o, &r, e);
}

int
webhook_offer_all(struct db *db, const struct event *ev, const char *name,
    struct str detail, struct err *e)
{
	struct offer o = { ev, name, detail };
	struct rows r;

	if (db_query(db, &r, e,
		"SELECT w.id, w.uid FROM webhook_subscription s"
		" JOIN webhook w ON w.id = s.webhook_id"
		" WHERE s.event = ? ORDER BY w.id",
		"s", str_from(name)))
		return -1;
	return add_each(db, &o, &r, e);
}
