#include "domain/actions/events.h"

#include "domain/money.h"
#include "domain/webhooks.h"

/* clang-format off */
SHAPE(action_created, "A Financial Action was created",
	FIELD(action_created, id, .required = true, .doc = "Number"),
	FIELD(action_created, envelope, .required = true, .of = &envelope_shape, .doc = "The Action Envelope"),
	FIELD(action_created, envelope_hash, .required = true, .doc = "SHA-256 of its canonical JSON"));
/* clang-format on */

EVENT_TYPE(action_created, "action.created", action_created,
    "A Financial Action was created from a sealed source record; its amount "
    "is reserved on the source");

static int
insert_action(struct db *db, const struct event *ev,
    const struct action_created *d, struct err *e)
{
	const struct envelope *x = d->envelope;

	return db_run(db, e,
	    "INSERT INTO action (id, uid, seq, application, state,"
	    " connector_id, external_reference, updated_at)"
	    " VALUES (?, ?, ?, ?, 'created', ?, ?, ?)",
	    "iuiuist", d->id, ev->subject, (int64_t)ev->seq, x->application,
	    x->connector_id, x->external_reference, ev->at);
}

static int
project_action_created(struct db *db, const struct event *ev,
    const struct action_created *d, struct err *e)
{
	const struct envelope *x = d->envelope;
	const struct envelope_source *source = x->source;
	int64_t minor;

	if (!money_minor(x->amount.text, &minor))
		return err_set(e, &err_corrupt, "\"%.*s\" is no amount",
		    STR_ARGS(x->amount.text));
	if (insert_action(db, ev, d, e) ||
	    db_run(db, e,
		"INSERT INTO action_source_reservation"
		" (source_uid, reserved_minor) VALUES (?, ?)"
		" ON CONFLICT (source_uid) DO UPDATE"
		" SET reserved_minor = reserved_minor + excluded.reserved_minor",
		"ui", source->uid, minor))
		return -1;
	if (webhook_offer(
		db, ev, "financial_action.created", x->application, e))
		return -1;
	if (uid_is_none(x->arrangement_uid))
		return 0;
	return db_run(db, e,
	    "INSERT INTO action_arrangement_reservation"
	    " (arrangement_uid, reserved_minor) VALUES (?, ?)"
	    " ON CONFLICT (arrangement_uid) DO UPDATE"
	    " SET reserved_minor = reserved_minor + excluded.reserved_minor",
	    "ui", x->arrangement_uid, minor);
}
