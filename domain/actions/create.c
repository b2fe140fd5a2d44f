/*
 * Creates a Financial Action from a sealed source record. Nothing is executed:
 * the amount is reserved on the source and the envelope sealed.
 */
#include "domain/actions/events.h"
#include "domain/actions/facts.h"
#include "domain/actions/group.h"
#include "ledger/base/embed.h"

struct action {
	int64_t id;
	struct uid uid;
	struct str state, origin, action_key;
	struct uid source_uid, arrangement_uid;
	int64_t connector_id, counterparty_id;
	struct str currency;
	struct decimal amount;
	struct str execution_mode, purpose, external_reference;
	struct str calculation_source, calculation_reference;
	struct list controls;
	const void *envelope;
	struct digest_text envelope_hash;
	struct instant created_at;
};

/* clang-format off */
SHAPE(action, "A Financial Action",
	FIELD(action, id, .doc = "Number"),
	FIELD(action, uid, .required = true, .doc = "Identifier"),
	FIELD(action, state, .required = true, .doc = "created"),
	FIELD(action, origin, .required = true, .values = VALUES("application", "agent"), .doc = "application or agent"),
	FIELD(action, action_key, .required = true, .doc = "Kind of action"),
	FIELD(action, source_uid, .required = true, .doc = "Sealed source record"),
	FIELD(action, arrangement_uid, .doc = "The source's arrangement"),
	FIELD(action, connector_id, .doc = "Connector that executes it"),
	FIELD(action, counterparty_id, .doc = "The source's counterparty"),
	FIELD(action, currency, .required = true, .doc = "ISO 4217 code"),
	FIELD(action, amount, .required = true, .doc = "Amount, with the currency's digits"),
	FIELD(action, execution_mode, .required = true, .values = VALUES("sandbox", "live"), .doc = "sandbox or live"),
	FIELD(action, purpose, .doc = "What it is for"),
	FIELD(action, external_reference, .doc = "End-to-end reference"),
	FIELD(action, calculation_source, .doc = "What computed the amount"),
	FIELD(action, calculation_reference, .doc = "The computation"),
	FIELD(action, controls, .of = &control_result_shape, .doc = "The controls and their outcome at creation"),
	FIELD(action, envelope, .required = true, .of = &envelope_shape, .doc = "The Action Envelope"),
	FIELD(action, envelope_hash, .required = true, .doc = "SHA-256 of the envelope's canonical JSON"),
	FIELD(action, created_at, .required = true, .doc = "When"));
/* clang-format on */

PREPARE(action_create_credit, create_action)
EMBED(action_create_credit_examples,
    "domain/actions/examples/action.create_credit.json");
WRITE_OPERATION(action_create_credit, create_action, action,
    .id = "action.create_credit", .method = "POST",
    .path = "/api/v2/actions/credit-corporate",
    .record = "/api/v2/agent-execution/actions/{uid}",
    .examples = action_create_credit_examples, .scope = "actions:create",
    .entitlement = "financial-actions", .product = "Financial Actions",
    .summary = "Create a Financial Action from a sealed source record",
    .prepare = action_create_credit_prepare_any, .reply_is_pure = true,
    .emits = EMITS(&event_action_created));

/* Leaves the amount in prepared. */
static int
action_create_credit_prepare(
    struct context *c, const struct create_action *in, struct err *e)
{
	struct money *amount = ARENA_NEW(c->arena, struct money);

	c->prepared = amount;
	return create_action_check(in, c->arena, amount, e);
}

static const struct envelope_source *
source_of(struct arena *a, const struct facts *f)
{
	struct envelope_source *source = ARENA_NEW(a, struct envelope_source);

	*source = (struct envelope_source){
		.uid = f->source->uid,
		.kind = f->source->kind,
		.sha256 = f->source->sha256,
	};
	return source;
}

static struct envelope
envelope_of(struct context *c, const struct facts *f,
    const struct control_result *results)
{
	const struct create_action *in = f->request;

	return (struct envelope){
		.version = ENVELOPE_VERSION,
		.ledger = ledger_origin(c->ledger),
		.uid = tx_uid(c->tx),
		.origin = STR("application"),
		.application = c->caller->application,
		.action_key = in->action_key,
		.source = source_of(c->arena, f),
		.arrangement_uid = in->arrangement_uid,
		.connector_id = in->connector_id,
		.counterparty_id = in->counterparty_id,
		.currency = in->currency,
		.amount = { money_format(c->arena, f->amount) },
		.execution_mode = in->execution_mode,
		.purpose = in->purpose,
		.external_reference = in->external_reference,
		.calculation_source = in->calculation_source,
		.calculation_reference = in->calculation_reference,
		.controls =
		    envelope_controls_from(c->arena, results, n_controls),
		.created_at = c->now,
	};
}

static int
action_create_credit_decide(
    struct context *c, const struct create_action *in, struct err *e)
{
	const struct money *amount = c->prepared;
	struct control_result *results =
	    arena_array(c->arena, n_controls, sizeof *results);
	struct action_created data = { 0 };
	struct envelope envelope;
	struct facts facts;

	if (facts_gather(c, in, *amount, &facts, e) ||
	    controls_judge(&facts, c->arena, results, e))
		return -1;
	envelope = envelope_of(c, &facts, results);
	data.envelope = &envelope;
	if (envelope_hash(&envelope, c->arena, &data.envelope_hash, e) ||
	    db_get_int(c->db, &data.id, 1, e,
		"SELECT coalesce(max(id), 0) + 1 FROM action", ""))
		return -1;
	return context_emit(
	    c, &event_action_created, "action", envelope.uid, &data, e);
}

static int
action_create_credit_reply(struct context *c, const struct event *ev,
    struct action *out, struct err *e)
{
	struct action_created data;
	const struct envelope *x;

	if (context_event_data(c, ev, &event_action_created, &data, e))
		return -1;
	x = data.envelope;
	*out = (struct action){
		.id = data.id,
		.uid = x->uid,
		.state = STR("created"),
		.origin = x->origin,
		.action_key = x->action_key,
		.source_uid = ((const struct envelope_source *)x->source)->uid,
		.arrangement_uid = x->arrangement_uid,
		.connector_id = x->connector_id,
		.counterparty_id = x->counterparty_id,
		.currency = x->currency,
		.amount = x->amount,
		.execution_mode = x->execution_mode,
		.purpose = x->purpose,
		.external_reference = x->external_reference,
		.calculation_source = x->calculation_source,
		.calculation_reference = x->calculation_reference,
		.controls = envelope_results(c->arena, x),
		.envelope = x,
		.envelope_hash = data.envelope_hash,
		.created_at = x->created_at,
	};
	return 0;
}
