/*
 * arrangement add
 */
#include "domain/parties.h"
#include "domain/parties/events.h"
#include "domain/parties/group.h"
#include "domain/parties/records.h"

struct arrangement_add {
	int64_t counterparty_id;
	struct str kind, currency;
	struct decimal limit;
};

/* clang-format off */
SHAPE(arrangement_add, "An arrangement to add",
	FIELD(arrangement_add, counterparty_id, .required = true, .min = 1, .doc = "With whom"),
	FIELD(arrangement_add, kind, .required = true, .min = 1, .max = 64, .format = &format_key, .doc = "What it is, for instance supply or credit-line"),
	FIELD(arrangement_add, currency, .required = true, .format = &format_currency, .doc = "ISO 4217 code"),
	FIELD(arrangement_add, limit, .doc = "The most that may be open under it at a time; no limit when not given"));
/* clang-format on */

PREPARE(arrangement_add, arrangement_add)
WRITE_OPERATION(arrangement_add, arrangement_add, arrangement_record,
    .id = "arrangement.add", .command = "arrangement add",
    .product = "Financial Actions",
    .summary = "Add an arrangement with a counterparty",
    .prepare = arrangement_add_prepare_any,
    .emits = EMITS(&event_arrangement_added));

/* Leaves the limit, in the currency's digits, in prepared. */
static int
arrangement_add_prepare(
    struct context *c, const struct arrangement_add *in, struct err *e)
{
	const struct currency *currency = currency_find(in->currency);
	struct decimal *limit = ARENA_NEW(c->arena, struct decimal);
	enum money_fault fault;
	struct money m;

	c->prepared = limit;
	if (!currency || !currency->payable)
		return err_add_field(e, c->arena, "pointer", "#/currency",
		    "currency",
		    "must be a currency of ISO 4217 that can be "
		    "paid in");
	if (!in->limit.text.p)
		return 0;
	fault = money_parse(in->limit.text, currency, &m);
	if (fault != MONEY_OK)
		return err_add_field(e, c->arena, "pointer", "#/limit",
		    "amount", "%s", money_fault_text(fault));
	if (m.minor <= 0)
		return err_add_field(e, c->arena, "pointer", "#/limit",
		    "minimum", "must be above zero");
	limit->text = money_format(c->arena, m);
	return 0;
}

static int
arrangement_add_decide(
    struct context *c, const struct arrangement_add *in, struct err *e)
{
	const struct decimal *limit = c->prepared;
	struct arrangement_added data = {
		.counterparty_id = in->counterparty_id,
		.kind = in->kind,
		.currency = in->currency,
		.limit = *limit,
	};
	struct counterparty counterparty;
	int found = counterparty_find(c, in->counterparty_id, &counterparty, e);

	if (found < 0)
		return -1;
	if (found == 0)
		return err_add_field(e, c->arena, "pointer",
		    "#/counterparty_id", "unknown_record",
		    "is no counterparty of this workspace");
	if (db_get_int(c->db, &data.id, 1, e,
		"SELECT coalesce(max(id), 0) + 1 FROM arrangement", ""))
		return -1;
	return context_emit(c, &event_arrangement_added, "arrangement",
	    tx_uid(c->tx), &data, e);
}

static int
arrangement_add_reply(struct context *c, const struct event *ev,
    struct arrangement_record *out, struct err *e)
{
	struct arrangement_added data;

	if (context_event_data(c, ev, &event_arrangement_added, &data, e))
		return -1;
	*out = (struct arrangement_record){
		.id = data.id,
		.uid = ev->subject,
		.counterparty_id = data.counterparty_id,
		.kind = data.kind,
		.currency = data.currency,
		.limit = data.limit,
		.status = STR("active"),
		.created_at = ev->at,
	};
	return 0;
}
