/*
 * counterparty add
 */
#include "domain/parties/events.h"
#include "domain/parties/group.h"
#include "domain/parties/identifiers.h"
#include "domain/parties/records.h"

struct counterparty_add {
	struct str name, account, lei;
};

/* clang-format off */
SHAPE(counterparty_add, "A counterparty to add",
	FIELD(counterparty_add, name, .required = true, .min = 1, .max = 140, .format = &format_text, .doc = "Name"),
	FIELD(counterparty_add, account, .required = true, .min = 1, .max = 34, .format = &format_account, .doc = "IBAN or another account number"),
	FIELD(counterparty_add, lei, .max = 20, .format = &format_lei, .doc = "Legal entity identifier (ISO 17442)"));
/* clang-format on */

WRITE_OPERATION(counterparty_add, counterparty_add, counterparty_record,
    .id = "counterparty.add", .command = "counterparty add",
    .product = "Financial Actions", .summary = "Add a counterparty",
    .emits = EMITS(&event_counterparty_added));

static int
counterparty_add_decide(
    struct context *c, const struct counterparty_add *in, struct err *e)
{
	struct counterparty_added data = {
		.name = in->name,
		.account = in->account,
		.lei = in->lei,
	};

	if (db_get_int(c->db, &data.id, 1, e,
		"SELECT coalesce(max(id), 0) + 1 FROM counterparty", ""))
		return -1;
	return context_emit(c, &event_counterparty_added, "counterparty",
	    tx_uid(c->tx), &data, e);
}

static int
counterparty_add_reply(struct context *c, const struct event *ev,
    struct counterparty_record *out, struct err *e)
{
	struct counterparty_added data;

	if (context_event_data(c, ev, &event_counterparty_added, &data, e))
		return -1;
	*out = (struct counterparty_record){
		.id = data.id,
		.uid = ev->subject,
		.name = data.name,
		.account = data.account,
		.lei = data.lei,
		.status = STR("active"),
		.created_at = ev->at,
	};
	return 0;
}
