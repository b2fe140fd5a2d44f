/*
 * The ledger's own event types and tables.
 */
#include "ledger/base/embed.h"
#include "ledger/chain/signers.h"
#include "ledger/write/closing.h"
#include "ledger/write/index.h"
#include "ledger/write/writer.h"

EMBED(core_sql, "ledger/write/core.sql");

SHAPE(ledger_opened, "A ledger and its first keys",
    FIELD(ledger_opened, algorithms, .required = true,
	.doc = "Hash, tree and signature algorithms"),
    FIELD(ledger_opened, continues,
	.doc = "Origin, size, root and head of the closed ledger before"),
    FIELD(ledger_opened, public_key, .required = true,
	.doc = "The ledger's key, as OpenSSH writes it"),
    FIELD(ledger_opened, recovery_key, .required = true,
	.doc = "The key that may revoke it"));

SHAPE(clock_confirmed, "An operator's word that the clock is right",
    FIELD(
	clock_confirmed, wall, .required = true, .doc = "What the clock said"),
    FIELD(clock_confirmed, last, .required = true,
	.doc = "The time of the event before"));

EVENT_TYPE(ledger_opened, "ledger.opened", ledger_opened,
    "A ledger begins: its algorithms and keys");
EVENT_TYPE(clock_confirmed, "clock.confirmed", clock_confirmed,
    "An operator confirmed a clock that was not plausible");

/* Nothing to project: keys are read from the repository. */
static int
project_ledger_opened(struct db *db, const struct event *ev,
    const struct ledger_opened *data, struct err *e)
{
	(void)db;
	(void)ev;
	(void)data;
	(void)e;
	return 0;
}

/* The position keeps it: position_advance. */
static int
project_clock_confirmed(struct db *db, const struct event *ev,
    const struct clock_confirmed *data, struct err *e)
{
	(void)db;
	(void)ev;
	(void)data;
	(void)e;
	return 0;
}

static const struct event_type *const core_types[] = { &event_ledger_opened,
	&event_clock_confirmed, &event_ledger_closed, &event_ledger_indexed,
	NULL };

const struct view core_view = { core_types, core_sql };

int
ledger_opened_from(struct arena *a, const struct opened *keys,
    struct ledger_opened *out, struct err *e)
{
	return shape_decode_json(
	    &ledger_opened_shape, opened_encode(a, keys), a, out, e);
}
