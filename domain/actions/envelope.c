#include "domain/actions/envelope.h"

#include "ledger/codec/canon.h"
#include "ledger/crypto/hash.h"

/* clang-format off */
SHAPE(envelope_source, "The sealed source record",
	FIELD(envelope_source, uid, .required = true, .doc = "Identifier"),
	FIELD(envelope_source, kind, .required = true, .doc = "obligation, entitlement, invoice or statement_entry"),
	FIELD(envelope_source, sha256, .required = true, .doc = "Its seal"));
SHAPE(envelope_failure, "A control that failed",
	FIELD(envelope_failure, id, .required = true, .doc = "Control"),
	FIELD(envelope_failure, detail, .required = true, .doc = "Why"));
SHAPE(envelope_controls, "The controls by outcome, at creation",
	FIELD(envelope_controls, passed, .omit_null = true, .doc = "Passed"),
	FIELD(envelope_controls, not_applicable, .omit_null = true, .doc = "Had nothing to judge"),
	FIELD(envelope_controls, failed, .omit_null = true, .of = &envelope_failure_shape, .doc = "Failed; they must pass before approval"));
SHAPE(envelope, "The Action Envelope",
	FIELD(envelope, version, .required = true, .doc = "Form of the envelope: 1"),
	FIELD(envelope, ledger, .required = true, .doc = "Origin of the ledger"),
	FIELD(envelope, uid, .required = true, .doc = "The action's identifier"),
	FIELD(envelope, origin, .required = true, .doc = "application or agent"),
	FIELD(envelope, application, .required = true, .doc = "The application that asked"),
	FIELD(envelope, action_key, .required = true, .doc = "Kind of action"),
	FIELD(envelope, source, .required = true, .of = &envelope_source_shape, .doc = "The sealed source record"),
	FIELD(envelope, arrangement_uid, .omit_null = true, .doc = "The source's arrangement"),
	FIELD(envelope, connector_id, .required = true, .doc = "What executes it"),
	FIELD(envelope, counterparty_id, .required = true, .doc = "The source's counterparty"),
	FIELD(envelope, currency, .required = true, .doc = "ISO 4217 code"),
	FIELD(envelope, amount, .required = true, .doc = "Amount, with the currency's digits"),
	FIELD(envelope, execution_mode, .required = true, .doc = "sandbox or live"),
	FIELD(envelope, purpose, .omit_null = true, .doc = "What it is for"),
	FIELD(envelope, external_reference, .omit_null = true, .doc = "End-to-end reference"),
	FIELD(envelope, calculation_source, .omit_null = true, .doc = "What computed the amount"),
	FIELD(envelope, calculation_reference, .omit_null = true, .doc = "The computation"),
	FIELD(envelope, controls, .required = true, .of = &envelope_controls_shape, .doc = "Controls by outcome"),
	FIELD(envelope, created_at, .required = true, .doc = "When"));
SHAPE(control_result, "A control and its outcome",
	FIELD(control_result, id, .required = true, .doc = "Control"),
	FIELD(control_result, outcome, .required = true, .values = VALUES("passed", "failed", "not_applicable"), .doc = "passed, failed or not_applicable"),
	FIELD(control_result, detail, .doc = "Why it failed"));
/* clang-format on */

int
envelope_hash(const struct envelope *envelope, struct arena *a,
    struct digest_text *out, struct err *e)
{
	struct str bytes;
	char hex[DIGEST_HEX + 1];

	if (canon_event(
		a, shape_encode(&envelope_shape, envelope, a), &bytes, e))
		return -1;
	digest_hex(sha256(bytes), hex);
	out->hex = arena_str(a, str_from(hex));
	return 0;
}

const struct envelope_controls *
envelope_controls_from(
    struct arena *a, const struct control_result *results, size_t n)
{
	struct envelope_controls *out = ARENA_NEW(a, struct envelope_controls);
	struct str *passed = arena_array(a, n, sizeof *passed);
	struct str *idle = arena_array(a, n, sizeof *idle);
	struct envelope_failure *failed = arena_array(a, n, sizeof *failed);

	for (size_t i = 0; i < n; i++) {
		const struct control_result *r = &results[i];

		if (str_is(r->outcome, "passed"))
			passed[out->passed.n++] = r->id;
		else if (str_is(r->outcome, "failed"))
			failed[out->failed.n++] =
			    (struct envelope_failure){ r->id, r->detail };
		else
			idle[out->not_applicable.n++] = r->id;
	}
	out->passed.items = passed;
	out->not_applicable.items = idle;
	out->failed.items = failed;
	return out;
}

static void
add_results(struct list *list, struct control_result *items,
    struct str_list names, struct str outcome)
{
	for (size_t i = 0; i < names.n; i++)
		items[list->n++] = (struct control_result){ names.items[i],
			outcome, STR_NONE };
}

struct list
envelope_results(struct arena *a, const struct envelope *envelope)
{
	const struct envelope_controls *c = envelope->controls;
	const struct envelope_failure *failed = c->failed.items;
	struct control_result *items = arena_array(
	    a, c->failed.n + c->passed.n + c->not_applicable.n, sizeof *items);
	struct list list = { items, 0 };

	for (size_t i = 0; i < c->failed.n; i++)
		items[list.n++] = (struct control_result){ failed[i].id,
			STR("failed"), failed[i].detail };
	add_results(&list, items, c->passed, STR("passed"));
	add_results(&list, items, c->not_applicable, STR("not_applicable"));
	return list;
}
