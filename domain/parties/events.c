#include "domain/parties/events.h"

#include "domain/money.h"
#include "ledger/crypto/sealed.h"

/* clang-format off */
SHAPE(connector_added, "A connector was added",
	FIELD(connector_added, id, .required = true, .doc = "Number"),
	FIELD(connector_added, name, .required = true, .doc = "Name"),
	FIELD(connector_added, kind, .required = true, .doc = "sandbox, file or https"),
	FIELD(connector_added, modes, .doc = "Execution modes it supports"));
SHAPE(counterparty_added, "A counterparty was added",
	FIELD(counterparty_added, id, .required = true, .doc = "Number"),
	FIELD(counterparty_added, name, .required = true, .doc = "Name"),
	FIELD(counterparty_added, account, .required = true, .doc = "IBAN or another account number"),
	FIELD(counterparty_added, lei, .omit_null = true, .doc = "Legal entity identifier"));
SHAPE(counterparty_registered, "A counterparty was registered",
	FIELD(counterparty_registered, id, .required = true, .doc = "Number"),
	FIELD(counterparty_registered, name, .required = true, .of = &sealed_text_shape, .doc = "Name, encrypted"),
	FIELD(counterparty_registered, account, .required = true, .of = &sealed_text_shape, .doc = "IBAN or another account number, encrypted"),
	FIELD(counterparty_registered, lei, .omit_null = true, .doc = "Legal entity identifier"));
SHAPE(arrangement_added, "An arrangement was added",
	FIELD(arrangement_added, id, .required = true, .doc = "Number"),
	FIELD(arrangement_added, counterparty_id, .required = true, .doc = "With whom"),
	FIELD(arrangement_added, kind, .required = true, .doc = "What it is"),
	FIELD(arrangement_added, currency, .required = true, .doc = "ISO 4217 code"),
	FIELD(arrangement_added, limit, .omit_null = true, .doc = "The most that may be open under it"));
SHAPE(counterparty_status_set, "A counterparty's status changed",
	FIELD(counterparty_status_set, id, .required = true, .doc = "Number"),
	FIELD(counterparty_status_set, reason, .required = true, .doc = "Why"));
/* clang-format on */

EVENT_TYPE(connector_added, "connector.added", connector_added,
    "An operator added a connector, a way to execute actions");
EVENT_TYPE(counterparty_added, "counterparty.added", counterparty_added,
    "An operator added a counterparty, in clear: of ledgers before "
    "counterparty.registered");
EVENT_TYPE(counterparty_registered, "counterparty.registered",
    counterparty_registered,
    "An operator added a counterparty; name and account are encrypted");
EVENT_TYPE(counterparty_suspended, "counterparty.suspended",
    counterparty_status_set,
    "An operator suspended a counterparty: new actions fail a control");
EVENT_TYPE(counterparty_reinstated, "counterparty.reinstated",
    counterparty_status_set, "An operator reinstated a counterparty");
EVENT_TYPE(arrangement_added, "arrangement.added", arrangement_added,
    "An operator added an arrangement with a counterparty");

static bool
has_mode(const struct connector_added *d, const char *mode)
{
	for (size_t i = 0; i < d->modes.n; i++)
		if (str_is(d->modes.items[i], mode))
			return true;
	return false;
}

static int
project_connector_added(struct db *db, const struct event *ev,
    const struct connector_added *d, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO connector (id, uid, name, kind, sandbox, live,"
	    " status, created_at) VALUES (?, ?, ?, ?, ?, ?, 'active', ?)",
	    "iussfft", d->id, ev->subject, d->name, d->kind,
	    has_mode(d, "sandbox"), has_mode(d, "live"), ev->at);
}

static int
project_counterparty_added(struct db *db, const struct event *ev,
    const struct counterparty_added *d, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO counterparty (id, uid, name, account, lei, status,"
	    " created_at) VALUES (?, ?, ?, ?, ?, 'active', ?)",
	    "iussst", d->id, ev->subject, d->name, d->account, d->lei, ev->at);
}

static int
insert_registered(struct db *db, const struct event *ev,
    const struct counterparty_registered *d, struct arena *a, struct err *e)
{
	const struct sealed_text *name = d->name, *account = d->account;
	struct str name_box, account_box;

	if (!uid_eq(name->key, account->key))
		return err_set(e, &err_corrupt,
		    "a counterparty's values have two content keys");
	if (sealed_text_box(a, name, &name_box, e) ||
	    sealed_text_box(a, account, &account_box, e))
		return -1;
	return db_run(db, e,
	    "INSERT INTO counterparty (id, uid, name_box, account_box,"
	    " content_key, lei, status, created_at)"
	    " VALUES (?, ?, ?, ?, ?, ?, 'active', ?)",
	    "iubbust", d->id, ev->subject, name_box, account_box, name->key,
	    d->lei, ev->at);
}

static int
project_counterparty_registered(struct db *db, const struct event *ev,
    const struct counterparty_registered *d, struct err *e)
{
	struct arena *a = arena_new();
	int rc = insert_registered(db, ev, d, a, e);

	arena_free(a);
	return rc;
}

static int
set_status(struct db *db, int64_t id, struct str status, struct err *e)
{
	return db_run(db, e, "UPDATE counterparty SET status = ? WHERE id = ?",
	    "si", status, id);
}

static int
project_counterparty_suspended(struct db *db, const struct event *ev,
    const struct counterparty_status_set *d, struct err *e)
{
	(void)ev;
	return set_status(db, d->id, STR("suspended"), e);
}

static int
project_counterparty_reinstated(struct db *db, const struct event *ev,
    const struct counterparty_status_set *d, struct err *e)
{
	(void)ev;
	return set_status(db, d->id, STR("active"), e);
}

static int
project_arrangement_added(struct db *db, const struct event *ev,
    const struct arrangement_added *d, struct err *e)
{
	struct opt_int limit = { .set = d->limit.text.p != NULL };

	if (limit.set && !money_minor(d->limit.text, &limit.v))
		return err_set(e, &err_corrupt, "\"%.*s\" is no limit",
		    STR_ARGS(d->limit.text));
	return db_run(db, e,
	    "INSERT INTO arrangement (id, uid, counterparty_id, kind, currency,"
	    " limit_amount, limit_minor, status, created_at)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, 'active', ?)",
	    "iuisssot", d->id, ev->subject, d->counterparty_id, d->kind,
	    d->currency, d->limit.text, limit, ev->at);
}
