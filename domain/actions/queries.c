/*
 * What a client may read of its actions through agent execution: control state
 * and assurance, never accounts. An application sees its own actions alone;
 * another's is like one that does not exist.
 */
#include "domain/actions/events.h"
#include "domain/actions/group.h"
#include "domain/as_of.h"
#include "domain/ledger_ops.h"
#include "ledger/base/embed.h"

struct action_query {
	struct uid uid;
};

struct action_version_query {
	struct uid uid;
	struct opt_int as_of;
};

struct approval_state {
	bool required;
	struct str state;
};

struct reconciliation_state {
	struct str state;
};

struct action_control_state {
	int64_t id;
	struct uid uid;
	struct str action_key, state, execution_mode;
	struct decimal amount;
	struct str currency;
	struct list controls;
	const void *approval, *reconciliation;
	struct digest_text envelope_hash;
	struct instant created_at, updated_at;
};

struct ledger_assurance {
	struct str origin;
	int64_t size;
	struct digest_text head, root;
	struct str checkpoint;
	const void *last_verification;
};

struct envelope_assurance {
	struct uid uid;
	struct digest_text envelope_hash;
	int64_t seq;
	struct digest_text event_hash;
};

struct action_assurance {
	const void *ledger, *action;
};

/* clang-format off */
SHAPE(action_query, "Which action",
	FIELD(action_query, uid, .place = IN_PATH, .required = true, .doc = "Identifier of the action"));
SHAPE(action_version_query, "Which action, and when",
	FIELD(action_version_query, uid, .place = IN_PATH, .required = true, .doc = "Identifier of the action"),
	FIELD(action_version_query, as_of, .place = IN_QUERY, AS_OF_FIELD));
SHAPE(approval_state, "Where the approval stands",
	FIELD(approval_state, required, .doc = "Whether people must approve before execution"),
	FIELD(approval_state, state, .required = true, .doc = "not_requested: it was not submitted"));
SHAPE(reconciliation_state, "Where the reconciliation stands",
	FIELD(reconciliation_state, state, .required = true, .doc = "not_started: nothing was executed"));
SHAPE(action_control_state, "An action's control state and reconciliation status",
	FIELD(action_control_state, id, .doc = "Number"),
	FIELD(action_control_state, uid, .required = true, .doc = "Identifier"),
	FIELD(action_control_state, action_key, .required = true, .doc = "Kind of action"),
	FIELD(action_control_state, state, .required = true, .doc = "created"),
	FIELD(action_control_state, execution_mode, .required = true, .values = VALUES("sandbox", "live"), .doc = "sandbox or live"),
	FIELD(action_control_state, amount, .required = true, .doc = "Amount"),
	FIELD(action_control_state, currency, .required = true, .doc = "ISO 4217 code"),
	FIELD(action_control_state, controls, .of = &control_result_shape, .doc = "The controls and their outcome at creation"),
	FIELD(action_control_state, approval, .required = true, .of = &approval_state_shape, .doc = "Approval"),
	FIELD(action_control_state, reconciliation, .required = true, .of = &reconciliation_state_shape, .doc = "Reconciliation: the completion boundary"),
	FIELD(action_control_state, envelope_hash, .required = true, .doc = "SHA-256 of the envelope's canonical JSON"),
	FIELD(action_control_state, created_at, .required = true, .doc = "When it was created"),
	FIELD(action_control_state, updated_at, .required = true, .doc = "When its state last changed"));
SHAPE(ledger_assurance, "The workspace's ledger as a whole",
	FIELD(ledger_assurance, origin, .required = true, .doc = "Its name"),
	FIELD(ledger_assurance, size, .doc = "Events"),
	FIELD(ledger_assurance, head, .required = true, .doc = "Hash of the last event"),
	FIELD(ledger_assurance, root, .required = true, .doc = "Root of the Merkle tree"),
	FIELD(ledger_assurance, checkpoint, .required = true, .doc = "The last signed note"),
	FIELD(ledger_assurance, last_verification, .of = &verification_shape, .doc = "The last full verification; null before the first"));
SHAPE(envelope_assurance, "The action in the ledger",
	FIELD(envelope_assurance, uid, .required = true, .doc = "Identifier"),
	FIELD(envelope_assurance, envelope_hash, .required = true, .doc = "SHA-256 of the envelope's canonical JSON"),
	FIELD(envelope_assurance, seq, .doc = "Place of the event that created it"),
	FIELD(envelope_assurance, event_hash, .required = true, .doc = "SHA-256 of that event"));
SHAPE(action_assurance, "Assurance over the workspace and an action's envelope",
	FIELD(action_assurance, ledger, .required = true, .of = &ledger_assurance_shape, .doc = "The workspace's ledger"),
	FIELD(action_assurance, action, .required = true, .of = &envelope_assurance_shape, .doc = "The action's envelope"));
/* clang-format on */

EMBED(action_control_state_examples,
    "domain/actions/examples/agent_execution.action.json");
READ_OPERATION(action_control_state, action_version_query, action_control_state,
    .id = "agent_execution.action", .method = "GET",
    .path = "/api/v2/agent-execution/actions/{uid}",
    .examples = action_control_state_examples, .scope = "agent:execution:read",
    .entitlement = "agents", .product = "Agents & MCP",
    .summary = "Read an action's control state and reconciliation status");

EMBED(action_assurance_examples,
    "domain/actions/examples/agent_execution.action_assurance.json");
READ_OPERATION(action_assurance, action_query, action_assurance,
    .id = "agent_execution.action_assurance", .method = "GET",
    .path = "/api/v2/agent-execution/actions/{uid}/assurance",
    .examples = action_assurance_examples, .scope = "agent:execution:read",
    .entitlement = "agents", .product = "Agents & MCP",
    .summary = "Read the workspace's assurance and an action's envelope hash");

struct action_row {
	uint64_t seq;
	struct str state;
	struct instant updated_at;
};

static int
find_row(
    struct context *c, struct uid uid, struct action_row *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT seq, state, updated_at FROM action"
		" WHERE uid = ? AND application = ?",
		"uu", uid, c->caller->application))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct action_row){
			.seq = (uint64_t)rows_int(&r, 0),
			.state = rows_str(&r, 1, c->arena),
			.updated_at = rows_instant(&r, 2),
		};
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found,
		    "there is no such action in this workspace");
	return 0;
}

/* The event that created it, of which replies are rendered. */
static int
read_created(struct context *c, const struct action_row *row,
    struct stored_event *stored, struct action_created *data, struct err *e)
{
	if (ledger_read_event(c->reading, row->seq, c->arena, stored, e))
		return -1;
	return context_event_data(
	    c, &stored->recorded.event, &event_action_created, data, e);
}

/* Until it is submitted nobody was asked to approve, and until it is executed
 * there is nothing to reconcile. */
static void
add_progress(struct arena *a, struct action_control_state *out)
{
	struct approval_state *approval = ARENA_NEW(a, struct approval_state);
	struct reconciliation_state *reconciliation =
	    ARENA_NEW(a, struct reconciliation_state);

	approval->required = true;
	approval->state = STR("not_requested");
	reconciliation->state = STR("not_started");
	out->approval = approval;
	out->reconciliation = reconciliation;
}

/* The row as it was then: the state is named like the event that brought it. */
static int
row_as_of(struct context *c, const struct action_version_query *in,
    struct action_row *row, struct err *e)
{
	struct stored_event version;

	if (!in->as_of.set)
		return 0;
	if (as_of_find(c, in->uid, "action.", in->as_of, &version, e))
		return -1;
	row->state = as_of_participle(&version);
	row->updated_at = version.recorded.event.at;
	return 0;
}

static int
action_control_state_read(struct context *c,
    const struct action_version_query *in, struct action_control_state *out,
    struct err *e)
{
	struct action_created data;
	struct stored_event stored;
	const struct envelope *x;
	struct action_row row;

	if (find_row(c, in->uid, &row, e) || row_as_of(c, in, &row, e) ||
	    read_created(c, &row, &stored, &data, e))
		return -1;
	x = data.envelope;
	*out = (struct action_control_state){
		.id = data.id,
		.uid = x->uid,
		.action_key = x->action_key,
		.state = row.state,
		.execution_mode = x->execution_mode,
		.amount = x->amount,
		.currency = x->currency,
		.controls = envelope_results(c->arena, x),
		.envelope_hash = data.envelope_hash,
		.created_at = x->created_at,
		.updated_at = row.updated_at,
	};
	add_progress(c->arena, out);
	return 0;
}

static int
assure_ledger(struct context *c, struct ledger_assurance *out, struct err *e)
{
	struct verification *last = ARENA_NEW(c->arena, struct verification);
	struct ledger_status status;
	int verified;

	if (ledger_read_status(c->reading, c->arena, &status, e))
		return -1;
	verified = ledger_last_verification(c, last, e);
	if (verified < 0)
		return -1;
	*out = (struct ledger_assurance){
		.origin = ledger_origin(c->ledger),
		.size = (int64_t)status.size,
		.head = { digest_hex_str(c->arena, status.head) },
		.root = { digest_hex_str(c->arena, status.root) },
		.checkpoint = status.checkpoint,
		.last_verification = verified ? last : NULL,
	};
	return 0;
}

static int
action_assurance_read(struct context *c, const struct action_query *in,
    struct action_assurance *out, struct err *e)
{
	struct ledger_assurance *ledger =
	    ARENA_NEW(c->arena, struct ledger_assurance);
	struct envelope_assurance *action =
	    ARENA_NEW(c->arena, struct envelope_assurance);
	struct action_created data;
	struct stored_event stored;
	struct action_row row;

	if (find_row(c, in->uid, &row, e) ||
	    read_created(c, &row, &stored, &data, e) ||
	    assure_ledger(c, ledger, e))
		return -1;
	*action = (struct envelope_assurance){
		.uid = in->uid,
		.envelope_hash = data.envelope_hash,
		.seq = (int64_t)row.seq,
		.event_hash = { digest_hex_str(
		    c->arena, stored.recorded.hash) },
	};
	*out = (struct action_assurance){ ledger, action };
	return 0;
}
