#include "domain/actions/request.h"

/* clang-format off */
SHAPE(create_action, "A Financial Action request",
	FIELD(create_action, action_key, .required = true, .min = 1, .max = 64, .format = &format_key, .doc = "Kind of action, for instance supplier-payment"),
	FIELD(create_action, source_uid, .required = true, .doc = "Sealed source record"),
	FIELD(create_action, arrangement_uid, .doc = "The source's arrangement; required when it has one"),
	FIELD(create_action, connector_id, .required = true, .min = 1, .doc = "Connector that executes it"),
	FIELD(create_action, counterparty_id, .required = true, .min = 1, .doc = "The source's counterparty"),
	FIELD(create_action, currency, .required = true, .format = &format_currency, .doc = "ISO 4217 code, the source's"),
	FIELD(create_action, amount, .required = true, .doc = "Above zero, within the currency's minor units and what remains of the source"),
	FIELD(create_action, purpose, .min = 1, .max = 280, .format = &format_text, .doc = "What it is for"),
	FIELD(create_action, external_reference, .min = 1, .max = 35, .format = &format_text, .doc = "End-to-end reference (ISO 20022); unique per connector among live actions"),
	FIELD(create_action, calculation_source, .min = 1, .max = 120, .format = &format_text, .doc = "What computed the amount"),
	FIELD(create_action, calculation_reference, .min = 1, .max = 120, .format = &format_text, .doc = "The computation"),
	FIELD(create_action, execution_mode, .required = true, .values = VALUES("sandbox", "live"), .doc = "sandbox, or approval-gated live"));
/* clang-format on */

static int
check_amount(const struct create_action *in, const struct currency *currency,
    struct arena *a, struct money *out, struct err *e)
{
	enum money_fault fault = money_parse(in->amount.text, currency, out);

	if (fault != MONEY_OK)
		return err_add_field(e, a, "pointer", "#/amount", "amount",
		    "%s", money_fault_text(fault));
	if (out->minor <= 0)
		return err_add_field(e, a, "pointer", "#/amount", "minimum",
		    "must be above zero");
	return 0;
}

int
create_action_check(const struct create_action *in, struct arena *a,
    struct money *amount, struct err *e)
{
	const struct currency *currency = currency_find(in->currency);

	if (!currency)
		return err_add_field(e, a, "pointer", "#/currency", "currency",
		    "must be a currency of ISO 4217");
	if (!currency->payable)
		err_add_field(e, a, "pointer", "#/currency", "currency",
		    "cannot be paid in");
	if (check_amount(in, currency, a, amount, e))
		return -1;
	return currency->payable ? 0 : -1;
}
