/*
 * counterparty suspend, counterparty reinstate: whether new actions with it
 * pass their controls.
 */
#include "domain/parties.h"
#include "domain/parties/events.h"
#include "domain/parties/group.h"

struct counterparty_change {
	int64_t id;
	struct str reason;
};

struct counterparty_changed {
	int64_t id;
	struct uid uid;
	struct str status, reason;
	struct instant changed_at;
};

/* clang-format off */
SHAPE(counterparty_change, "A counterparty whose status is to change",
	FIELD(counterparty_change, id, .required = true, .min = 1, .doc = "Number of the counterparty"),
	FIELD(counterparty_change, reason, .required = true, .min = 1, .max = 280, .format = &format_text, .doc = "Why"));
SHAPE(counterparty_changed, "A counterparty whose status changed",
	FIELD(counterparty_changed, id, .doc = "Number"),
	FIELD(counterparty_changed, uid, .doc = "Identifier"),
	FIELD(counterparty_changed, status, .doc = "active or suspended"),
	FIELD(counterparty_changed, reason, .doc = "Why"),
	FIELD(counterparty_changed, changed_at, .doc = "When"));
/* clang-format on */

WRITE_OPERATION(counterparty_suspend, counterparty_change, counterparty_changed,
    .id = "counterparty.suspend", .command = "counterparty suspend",
    .status = 200, .product = "Financial Actions",
    .summary = "Suspend a counterparty",
    .emits = EMITS(&event_counterparty_suspended));

WRITE_OPERATION(counterparty_reinstate, counterparty_change,
    counterparty_changed, .id = "counterparty.reinstate",
    .command = "counterparty reinstate", .status = 200,
    .product = "Financial Actions",
    .summary = "Reinstate a suspended counterparty",
    .emits = EMITS(&event_counterparty_reinstated));

static int
change(struct context *c, const struct counterparty_change *in,
    const char *from, const struct event_type *type, struct err *e)
{
	struct counterparty_status_set data = { in->id, in->reason };
	struct counterparty counterparty;
	int found = counterparty_find(c, in->id, &counterparty, e);

	if (found < 0)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found,
		    "there is no counterparty %lld in this workspace",
		    (long long)in->id);
	if (!str_is(counterparty.status, from))
		return err_set(e, &err_conflict, "the counterparty is %.*s",
		    STR_ARGS(counterparty.status));
	return context_emit(
	    c, type, "counterparty", counterparty.uid, &data, e);
}

static int
render(struct context *c, const struct event *ev, const struct event_type *type,
    struct str status, struct counterparty_changed *out, struct err *e)
{
	struct counterparty_status_set data;

	if (context_event_data(c, ev, type, &data, e))
		return -1;
	*out = (struct counterparty_changed){
		.id = data.id,
		.uid = ev->subject,
		.status = status,
		.reason = data.reason,
		.changed_at = ev->at,
	};
	return 0;
}

static int
counterparty_suspend_decide(
    struct context *c, const struct counterparty_change *in, struct err *e)
{
	return change(c, in, "active", &event_counterparty_suspended, e);
}

static int
counterparty_suspend_reply(struct context *c, const struct event *ev,
    struct counterparty_changed *out, struct err *e)
{
	return render(
	    c, ev, &event_counterparty_suspended, STR("suspended"), out, e);
}

static int
counterparty_reinstate_decide(
    struct context *c, const struct counterparty_change *in, struct err *e)
{
	return change(c, in, "suspended", &event_counterparty_reinstated, e);
}

static int
counterparty_reinstate_reply(struct context *c, const struct event *ev,
    struct counterparty_changed *out, struct err *e)
{
	return render(
	    c, ev, &event_counterparty_reinstated, STR("active"), out, e);
}
