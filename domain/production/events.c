#include "domain/production/events.h"

#include "domain/approvers.h"

/* clang-format off */
SHAPE(production_decided, "An approver opened or closed production",
	FIELD(production_decided, approver, .required = true, .doc = "Who decided"),
	FIELD(production_decided, public_key, .required = true, .max = 200, .doc = "The approver's key, as an OpenSSH line"),
	FIELD(production_decided, stated_at, .required = true, .doc = "When, as the statement says"),
	FIELD(production_decided, statement, .required = true, .max = STATEMENT_MAX, .doc = "The bytes that were signed: canonical JSON"),
	FIELD(production_decided, signature, .required = true, .max = 4096, .doc = "The signature (SSHSIG) in the namespace probity-approval"));
/* clang-format on */

EVENT_TYPE(production_opened, "production.opened", production_decided,
    "An approver opened production: live keys are issued, and work");
EVENT_TYPE(production_closed, "production.closed", production_decided,
    "An approver closed production: live keys are refused until it is opened "
    "again");

static int
set_state(struct db *db, const struct event *ev,
    const struct production_decided *d, bool open, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO production_state (id, open, since, approver,"
	    " stated_at) VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
	    " SET open = excluded.open, since = excluded.since,"
	    " approver = excluded.approver, stated_at = excluded.stated_at",
	    "ftut", open, ev->at, d->approver, d->stated_at);
}

static int
project_production_opened(struct db *db, const struct event *ev,
    const struct production_decided *d, struct err *e)
{
	return set_state(db, ev, d, true, e);
}

static int
project_production_closed(struct db *db, const struct event *ev,
    const struct production_decided *d, struct err *e)
{
	return set_state(db, ev, d, false, e);
}
