#include "domain/actions/controls.h"

static struct finding
passed(void)
{
	return (struct finding){ .outcome = CONTROL_PASSED };
}

static struct finding
not_applicable(void)
{
	return (struct finding){ .outcome = CONTROL_NOT_APPLICABLE };
}

static struct finding
failed(struct str detail)
{
	return (struct finding){ CONTROL_FAILED, detail };
}

static struct finding
passed_if(bool holds, struct str otherwise)
{
	return holds ? passed() : failed(otherwise);
}

/* Imports seal; a record without its seal would not be evidence of anything. */
static struct finding
judge_source_sealed(const struct facts *f, struct arena *a)
{
	(void)a;
	if (!f->source)
		return failed(STR("is no source record of this workspace"));
	return passed_if(
	    f->source->sha256.hex.n > 0, STR("the source is not sealed"));
}

static struct finding
judge_currency_match(const struct facts *f, struct arena *a)
{
	if (!f->source)
		return not_applicable();
	if (str_eq(f->source->currency, f->request->currency))
		return passed();
	return failed(arena_strf(
	    a, "the source is in %.*s", STR_ARGS(f->source->currency)));
}

static struct str
money_text(const struct facts *f, struct arena *a, int64_t minor)
{
	return money_format(a, (struct money){ minor, f->amount.currency });
}

static struct finding
judge_source_amount(const struct facts *f, struct arena *a)
{
	int64_t remaining;

	/* Amounts in two currencies do not compare. */
	if (!f->source || !str_eq(f->source->currency, f->request->currency))
		return not_applicable();
	remaining = f->source->amount_minor - f->source_reserved;
	if (f->amount.minor <= remaining)
		return passed();
	return failed(arena_strf(a, "only %.*s %.*s of the source remain",
	    STR_ARGS(money_text(f, a, remaining)),
	    STR_ARGS(f->request->currency)));
}

static struct finding
judge_counterparty_match(const struct facts *f, struct arena *a)
{
	(void)a;
	if (!f->counterparty)
		return failed(STR("is no counterparty of this workspace"));
	if (!f->source)
		return not_applicable();
	if (f->source->counterparty_id == 0)
		return failed(STR("the source names no counterparty"));
	return passed_if(f->source->counterparty_id == f->counterparty->id,
	    STR("is not the source's counterparty"));
}

static struct finding
judge_arrangement_match(const struct facts *f, struct arena *a)
{
	struct uid given = f->request->arrangement_uid;

	(void)a;
	if (!uid_is_none(given) && !f->arrangement)
		return failed(STR("is no arrangement of this workspace"));
	if (!f->source)
		return not_applicable();
	if (uid_is_none(given) && uid_is_none(f->source->arrangement))
		return not_applicable();
	if (uid_is_none(given))
		return failed(STR("must be given, because the source has one"));
	return passed_if(uid_eq(given, f->source->arrangement),
	    STR("is not the source's arrangement"));
}

static struct finding
judge_amount_positive(const struct facts *f, struct arena *a)
{
	(void)a;
	return passed_if(f->amount.minor > 0, STR("must be above zero"));
}

static struct finding
judge_minor_units(const struct facts *f, struct arena *a)
{
	(void)a;
	return passed_if(f->amount_fault == MONEY_OK,
	    str_from(money_fault_text(f->amount_fault)));
}

static struct finding
judge_connector_mode(const struct facts *f, struct arena *a)
{
	bool live = str_is(f->request->execution_mode, "live");

	(void)a;
	if (!f->connector)
		return failed(STR("is no connector of this workspace"));
	return passed_if(live ? f->connector->live : f->connector->sandbox,
	    STR("does not support the execution mode"));
}

static struct finding
judge_live_permitted(const struct facts *f, struct arena *a)
{
	(void)a;
	if (!str_is(f->request->execution_mode, "live"))
		return not_applicable();
	return passed_if(f->production_is_open, STR("production is not open"));
}

static struct finding
judge_duplicate_reference(const struct facts *f, struct arena *a)
{
	(void)a;
	if (!f->request->external_reference.p)
		return not_applicable();
	return passed_if(!f->reference_is_taken,
	    STR("another live action of the connector has it"));
}

static struct finding
judge_counterparty_status(const struct facts *f, struct arena *a)
{
	if (!f->counterparty)
		return not_applicable();
	if (str_is(f->counterparty->status, "active"))
		return passed();
	return failed(arena_strf(
	    a, "the counterparty is %.*s", STR_ARGS(f->counterparty->status)));
}

static struct finding
judge_arrangement_limit(const struct facts *f, struct arena *a)
{
	const struct arrangement *arrangement = f->arrangement;
	int64_t open;

	if (!arrangement || !arrangement->has_limit)
		return not_applicable();
	if (!str_eq(arrangement->currency, f->request->currency))
		return failed(arena_strf(a, "the limit is in %.*s",
		    STR_ARGS(arrangement->currency)));
	if (money_add(f->arrangement_reserved, f->amount.minor, &open) &&
	    open <= arrangement->limit_minor)
		return passed();
	return failed(arena_strf(a, "%.*s are open of a limit of %.*s",
	    STR_ARGS(money_text(f, a, f->arrangement_reserved)),
	    STR_ARGS(money_text(f, a, arrangement->limit_minor))));
}

/* An entitlement's amount is the result of a computation, so the computation
 * is named. Whoever names one names both of its parts. */
static struct finding
judge_calculation_required(const struct facts *f, struct arena *a)
{
	bool source = f->request->calculation_source.p != NULL;
	bool reference = f->request->calculation_reference.p != NULL;

	(void)a;
	if (source && reference)
		return passed();
	if (source || reference)
		return failed(STR("calculation_source and "
				  "calculation_reference belong together"));
	if (!f->source || !str_is(f->source->kind, "entitlement"))
		return not_applicable();
	return failed(STR("an entitlement needs the calculation"));
}

/* clang-format off */
const struct control controls[] = {
	{ "source_sealed", CONTROL_SCOPE, "#/source_uid", judge_source_sealed },
	{ "source_amount", CONTROL_SCOPE, "#/amount", judge_source_amount },
	{ "counterparty_match", CONTROL_SCOPE, "#/counterparty_id", judge_counterparty_match },
	{ "arrangement_match", CONTROL_SCOPE, "#/arrangement_uid", judge_arrangement_match },
	{ "currency_match", CONTROL_SCOPE, "#/currency", judge_currency_match },
	{ "amount_positive", CONTROL_SCOPE, "#/amount", judge_amount_positive },
	{ "minor_units", CONTROL_SCOPE, "#/amount", judge_minor_units },
	{ "connector_mode", CONTROL_SCOPE, "#/connector_id", judge_connector_mode },
	{ "live_permitted", CONTROL_SCOPE, "#/execution_mode", judge_live_permitted },
	{ "duplicate_reference", CONTROL_SCOPE, "#/external_reference", judge_duplicate_reference },
	{ "counterparty_status", CONTROL_POLICY, "#/counterparty_id", judge_counterparty_status },
	{ "arrangement_limit", CONTROL_POLICY, "#/amount", judge_arrangement_limit },
	{ "calculation_required", CONTROL_POLICY, "#/calculation_reference", judge_calculation_required },
};
/* clang-format on */

const size_t n_controls = sizeof controls / sizeof controls[0];

static struct str
outcome_text(enum control_outcome outcome)
{
	switch (outcome) {
	case CONTROL_PASSED:
		return STR("passed");
	case CONTROL_FAILED:
		return STR("failed");
	case CONTROL_NOT_APPLICABLE:
		break;
	}
	return STR("not_applicable");
}

/* The refusal: err_control comes first, so the fields leave its kind. */
static void
refuse(const struct control *c, struct finding finding, struct arena *a,
    struct err *e)
{
	err_set(e, &err_control,
	    "the action is out of its source's scope: %s failed", c->id);
	err_add_field(e, a, "pointer", c->pointer, c->id, "%.*s",
	    STR_ARGS(finding.detail));
}

static const struct json *
results_json(const struct control_result *results, struct arena *a)
{
	struct json *object = json_object(a), *array = json_array(a);

	for (size_t i = 0; i < n_controls; i++)
		json_push(
		    array, shape_encode(&control_result_shape, &results[i], a));
	json_put(object, "controls", array);
	return object;
}

int
controls_judge(const struct facts *facts, struct arena *a,
    struct control_result *results, struct err *e)
{
	bool refused = false;

	for (size_t i = 0; i < n_controls; i++) {
		const struct control *c = &controls[i];
		struct finding finding = c->judge(facts, a);

		results[i] = (struct control_result){ str_from(c->id),
			outcome_text(finding.outcome), finding.detail };
		if (c->stage != CONTROL_SCOPE ||
		    finding.outcome != CONTROL_FAILED)
			continue;
		refuse(c, finding, a, e);
		refused = true;
	}
	if (refused)
		e->extension = results_json(results, a);
	return refused ? -1 : 0;
}
