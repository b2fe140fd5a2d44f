/*
 * production open and close: an approver's signed decision goes into the
 * ledger. Statements take effect in the order of their times, so one that was
 * signed before the last change, used or not, changes nothing any more.
 */
#include "domain/approvers.h"
#include "domain/production.h"
#include "domain/production/events.h"
#include "domain/production/group.h"
#include "domain/workspace.h"

struct decide_production {
	struct str approver, statement, signature;
};

struct production_change {
	int64_t id;
	struct uid uid;
	struct str state;
	struct uid approver_uid;
	struct str public_key, statement, signature;
	struct instant stated_at, changed_at;
};

/* clang-format off */
SHAPE(decide_production, "An approver's decision",
	FIELD(decide_production, approver, .required = true, .min = 1, .max = 120, .doc = "The approver's identifier or name"),
	FIELD(decide_production, statement, .required = true, .min = 1, .max = STATEMENT_MAX, .doc = "What production statement printed"),
	FIELD(decide_production, signature, .required = true, .min = 1, .max = 4096, .doc = "The .sig file of ssh-keygen -Y sign -n " APPROVAL_NAMESPACE));
SHAPE(production_change, "Production was opened or closed",
	FIELD(production_change, id, .doc = "Number of the workspace"),
	FIELD(production_change, uid, .doc = "Identifier of the workspace"),
	FIELD(production_change, state, .doc = "open or closed"),
	FIELD(production_change, approver_uid, .doc = "Who decided"),
	FIELD(production_change, public_key, .doc = "The approver's key, as an OpenSSH line"),
	FIELD(production_change, stated_at, .doc = "When, as the statement says"),
	FIELD(production_change, statement, .doc = "The bytes that were signed"),
	FIELD(production_change, signature, .doc = "The signature"),
	FIELD(production_change, changed_at, .doc = "When it was recorded"));
/* clang-format on */

#define FILES "statement signature"

PREPARE(production, decide_production)
WRITE_OPERATION(production_open, decide_production, production_change,
    .id = "production.open", .command = "production open", .status = 200,
    .product = "Core Platform", .file_field = FILES, .reply_is_pure = true,
    .summary = "Open production, by an approver's signature",
    .prepare = production_prepare_any,
    .emits = EMITS(&event_production_opened));
WRITE_OPERATION(production_close, decide_production, production_change,
    .id = "production.close", .command = "production close", .status = 200,
    .product = "Core Platform", .file_field = FILES, .reply_is_pure = true,
    .summary = "Close production, by an approver's signature",
    .prepare = production_prepare_any,
    .emits = EMITS(&event_production_closed));

static int
bad_statement(
    struct context *c, struct err *e, const char *code, const char *detail)
{
	return err_add_field(
	    e, c->arena, "pointer", "#/statement", code, "%s", detail);
}

/* The statement by its shape: what is wrong in it is wrong with that field of
 * the request. */
static int
read_statement(struct context *c, struct str text,
    struct production_statement *out, struct err *e)
{
	struct err why = { 0 };
	struct json *v;

	if (json_parse(c->arena, text, &json_limits_default, &v, &why))
		return bad_statement(c, e, "canonical", why.detail);
	if (shape_decode_json(
		&production_statement_shape, v, c->arena, out, &why) == 0)
		return 0;
	for (const struct err_field *f = why.fields; f; f = f->next)
		err_add_field(e, c->arena, "pointer", "#/statement", f->code,
		    "%s %s", f->at, f->detail);
	return why.fields ? -1 : bad_statement(c, e, "form", why.detail);
}

static int
production_prepare(
    struct context *c, const struct decide_production *in, struct err *e)
{
	struct production_statement *statement =
	    ARENA_NEW(c->arena, struct production_statement);

	c->prepared = statement;
	return production_check_place(c, e)
		   ? -1
		   : read_statement(c, in->statement, statement, e);
}

static int
check_statement(struct context *c, const struct production_statement *s,
    const char *decision, struct err *e)
{
	if (!str_is(s->decision, decision))
		return bad_statement(
		    c, e, "decision", "decides something else");
	if (!str_eq(s->workspace, c->place->workspace))
		return bad_statement(
		    c, e, "workspace", "is for another workspace than this");
	return 0;
}

static int
check_order(struct context *c, const struct production_statement *s, bool open,
    struct err *e)
{
	struct production_state state;

	if (production_read(c, &state, e))
		return -1;
	if (state.open == open)
		return err_set(e, &err_conflict, "production is %s already",
		    open ? "open" : "closed");
	if (s->at.us <= state.stated_at.us)
		return bad_statement(c, e, "used",
		    "was signed before the last decision, or is that one; "
		    "sign a new statement");
	return 0;
}

static int
change(struct context *c, const struct decide_production *in, bool open,
    struct err *e)
{
	const struct production_statement *s = c->prepared;
	struct production_decided data = {
		.stated_at = s->at,
		.statement = in->statement,
		.signature = in->signature,
	};
	struct workspace_record workspace = { 0 };

	if (approver_verify(c, in->approver, APPROVER_PRODUCTION, in->statement,
		in->signature, &data.approver, e) ||
	    check_statement(c, s, open ? DECIDES_OPEN : DECIDES_CLOSE, e) ||
	    check_order(c, s, open, e) ||
	    approver_public_key(c, data.approver, &data.public_key, e) ||
	    workspace_find(c, &workspace, e) < 0)
		return -1;
	return context_emit(c,
	    open ? &event_production_opened : &event_production_closed,
	    "workspace", workspace.uid, &data, e);
}

static int
reply(struct context *c, const struct event *ev, const struct event_type *type,
    const char *state, struct production_change *out, struct err *e)
{
	struct production_decided data;

	if (context_event_data(c, ev, type, &data, e))
		return -1;
	*out = (struct production_change){
		.id = 1, /* a ledger has one workspace */
		.uid = ev->subject,
		.state = str_from(state),
		.approver_uid = data.approver,
		.public_key = data.public_key,
		.statement = data.statement,
		.signature = data.signature,
		.stated_at = data.stated_at,
		.changed_at = ev->at,
	};
	return 0;
}

static int
production_open_decide(
    struct context *c, const struct decide_production *in, struct err *e)
{
	return change(c, in, true, e);
}

static int
production_open_reply(struct context *c, const struct event *ev,
    struct production_change *out, struct err *e)
{
	return reply(c, ev, &event_production_opened, "open", out, e);
}

static int
production_close_decide(
    struct context *c, const struct decide_production *in, struct err *e)
{
	return change(c, in, false, e);
}

static int
production_close_reply(struct context *c, const struct event *ev,
    struct production_change *out, struct err *e)
{
	return reply(c, ev, &event_production_closed, "closed", out, e);
}
