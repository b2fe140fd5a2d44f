/*
 * ledger confirm-clock: an operator looked at the clock and says that it is
 * right, although it is far from the last event's time.
 */
#include "domain/ledger_ops/group.h"
#include "domain/service.h"

struct clock_reply {
	struct instant wall, last;
};

/* clang-format off */
SHAPE(clock_reply, "A clock that was confirmed",
	FIELD(clock_reply, wall, .doc = "What the clock said"),
	FIELD(clock_reply, last, .doc = "The time of the event before"));
/* clang-format on */

WRITE_OPERATION(ledger_confirm_clock, nothing, clock_reply,
    .id = "ledger.confirm_clock", .command = "ledger confirm-clock",
    .confirms_clock = true, .product = "Core Platform",
    .summary = "Confirm that the clock is right, after clock-implausible",
    .emits = EMITS(&event_clock_confirmed));

static int
ledger_confirm_clock_decide(
    struct context *c, const struct nothing *in, struct err *e)
{
	struct clock_confirmed data = { .wall = service_now(c->service) };

	(void)in;
	if (db_get_int(c->db, &data.last.us, 0, e,
		"SELECT last_at FROM ledger_position", ""))
		return -1;
	return context_emit(
	    c, &event_clock_confirmed, "ledger", tx_uid(c->tx), &data, e);
}

static int
ledger_confirm_clock_reply(struct context *c, const struct event *ev,
    struct clock_reply *out, struct err *e)
{
	struct clock_confirmed data;

	if (context_event_data(c, ev, &event_clock_confirmed, &data, e))
		return -1;
	*out = (struct clock_reply){ data.wall, data.last };
	return 0;
}
