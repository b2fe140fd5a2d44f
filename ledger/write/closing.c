/*
 * The last event. It has a batch to itself: a command that finds the batch
 * begun waits for the next, and so does everything that comes after it, to be
 * refused there by what the tables say.
 */
#include "ledger/write/closing.h"

#include "ledger/chain/signers.h"
#include "ledger/write/writer.h"

#define REASON_MAX 500

SHAPE(ledger_closed, "The end of a ledger",
    FIELD(ledger_closed, reason, .min = 1, .max = REASON_MAX,
	.format = &format_text, .doc = "Why it was closed"),
    FIELD(ledger_closed, successor, .required = true, .max = 200,
	.doc = "Origin of the ledger that continues it"));

EVENT_TYPE(ledger_closed, TYPE_CLOSED, ledger_closed,
    "A ledger ends: nothing follows, and another one continues it");

static int
project_ledger_closed(struct db *db, const struct event *ev,
    const struct ledger_closed *data, struct err *e)
{
	(void)ev;
	return db_run(db, e, "INSERT INTO ledger_closed VALUES (1, ?, ?)", "ss",
	    data->successor, data->reason);
}

int
ledger_read_closed(
    struct db *db, struct arena *a, struct ledger_closed *out, struct err *e)
{
	struct rows r;
	int found;

	*out = (struct ledger_closed){ 0 };
	if (db_query(
		db, &r, e, "SELECT successor, reason FROM ledger_closed", ""))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		out->successor = rows_str(&r, 0, a);
		out->reason = rows_str(&r, 1, a);
	}
	return rows_end(&r, e) ? -1 : found;
}

int
closing_note(struct ledger *l, struct err *e)
{
	struct arena *a = arena_new();
	struct ledger_closed closed;
	int found = ledger_read_closed(l->db, a, &closed, e);

	if (found == 1)
		err_set(&l->draft.no_more, &err_ledger_closed,
		    "%.*s is closed, and %.*s continues it",
		    STR_ARGS(l->origin), STR_ARGS(closed.successor));
	arena_free(a);
	return found < 0 ? -1 : 0;
}

int
closing_check(const struct ledger *l, const struct event_type *type, bool *wait,
    struct err *e)
{
	const struct draft *d = &l->draft;
	bool closes = type == &event_ledger_closed;

	if (d->no_more.kind != NULL)
		return err_set(e, d->no_more.kind, "%s", d->no_more.detail);
	if (d->n == 0 ||
	    (!closes && !str_is(d->events[d->n - 1].type, TYPE_CLOSED)))
		return 0;
	*wait = true;
	return err_set(e, &err_ledger_closed,
	    "ledger.closed is the only event of its batch");
}

static int
decide_closing(struct tx *tx, void *arg, struct err *e)
{
	return tx_emit(
	    tx, &event_ledger_closed, "ledger", tx_uid(tx), arg, NULL, 0, e);
}

int
ledger_end(struct ledger *l, const struct actor *actor,
    const struct ledger_closed *data, struct err *e)
{
	struct ledger_closed copy = *data;
	struct arena *a;
	struct command c = {
		.decide = decide_closing, .arg = &copy, .actor = *actor
	};
	struct receipt r;
	int rc;

	if (!origin_is_valid(data->successor) ||
	    str_eq(data->successor, l->origin))
		return err_set(e, &err_invalid,
		    "%.*s is not the origin of another ledger, such as %.*s/2",
		    STR_ARGS(data->successor), STR_ARGS(l->origin));
	c.arena = a = arena_new();
	rc = ledger_submit(l, &c, &r, e);
	arena_free(a);
	return rc;
}
