#include "domain/call.h"

#include "domain/oauth.h"
#include "domain/production.h"
#include "domain/running.h"

static bool
list_has(struct str_list list, const char *name)
{
	for (size_t i = 0; i < list.n; i++)
		if (str_is(list.items[i], name))
			return true;
	return false;
}

/* The application keeps its own list: what is taken from the workspace counts
 * for all of them, and comes back as it was. */
static int
check_entitlement(const struct credential *credential,
    const struct operation *op, struct err *e)
{
	if (!op->entitlement)
		return 0;
	if (!list_has(credential->workspace_entitlements, op->entitlement))
		return err_set(e, &err_forbidden,
		    "the workspace has no entitlement to %s", op->entitlement);
	if (!list_has(credential->entitlements, op->entitlement))
		return err_set(e, &err_forbidden,
		    "the application has no entitlement to %s",
		    op->entitlement);
	return 0;
}

/* The last question: whoever is refused by it needs the scope and no more. */
static int
check_scope(const struct credential *credential, const struct caller *caller,
    const char *scope, struct err *e)
{
	if (!scope || (list_has(credential->scopes, scope) &&
			  list_has(credential->application_scopes, scope) &&
			  caller_has_scope(caller, scope)))
		return 0;
	err_set(e, &err_forbidden, "the credential lacks the scope %s", scope);
	if (e)
		e->scope = scope;
	return -1;
}

int
call_authorize_found(const struct credential *credential,
    const struct caller *caller, const struct operation *op, struct err *e)
{
	if (!op->method)
		return err_set(
		    e, &err_forbidden, "%s is for operators", op->id);
	if (!str_is(credential->status, "active") ||
	    !uid_eq(credential->application, caller->application))
		return err_set(e, &err_unauthorized,
		    "the credential is no longer in force");
	if (!str_is(credential->application_status, "active"))
		return err_set(e, &err_forbidden, "the application is %.*s",
		    STR_ARGS(credential->application_status));
	if (credential->production_closed)
		return err_set(e, &err_production_closed,
		    "production is closed: live keys are refused");
	if (check_entitlement(credential, op, e))
		return -1;
	return check_scope(credential, caller, op->scope, e);
}

/* The caller's key or token as it is now. */
static int
find_credential(struct db *db, const struct caller *caller, struct arena *a,
    struct credential *out, struct err *e)
{
	struct access_token token = { 0 };
	int found;

	if (!caller->token.p)
		return credential_find(db, caller->credential, a, out, e);
	found = access_token_find(db, caller->token, a, &token, e);
	*out = token.credential;
	return found;
}

int
credential_check_time(
    const struct credential *credential, struct instant now, struct err *e)
{
	if (credential->expires_at.us != 0 &&
	    now.us >= credential->expires_at.us)
		return err_set(
		    e, &err_unauthorized, "the access token has expired");
	return 0;
}

int
call_authorize(struct db *db, const struct caller *caller,
    const struct operation *op, struct instant now, struct arena *a,
    struct err *e)
{
	struct credential credential;
	int found;

	if (caller->kind != CALLER_APPLICATION)
		return 0;
	found = find_credential(db, caller, a, &credential, e);
	if (found == 1)
		return credential_check_time(&credential, now, e)
			   ? -1
			   : call_authorize_found(&credential, caller, op, e);
	if (found == 0)
		return err_set(e, &err_unauthorized,
		    "the credential is no longer in force");
	return -1;
}

int
running_authorize(struct running *r, struct db *db, struct err *e)
{
	if (!db && r->call->caller->kind == CALLER_APPLICATION)
		return err_set(e, &err_internal, "no ledger to check against");
	return call_authorize(
	    db, r->call->caller, r->call->op, r->c.now, r->c.arena, e);
}

int
running_decode(struct running *r, struct err *e)
{
	const struct shape *shape = r->call->op->in;

	r->in = arena_alloc(r->c.arena, shape->size);
	return shape_decode(shape, &r->call->input, r->c.arena, r->in, e);
}

const struct shape content_shape = { "content", "Bytes", NULL, 0,
	sizeof(struct content) };

void
running_say_beside(const struct running *r, struct reply *out)
{
	if (r->c.status != 0)
		out->status = r->c.status;
	out->retry_after_s = r->c.retry_after_s;
}

static int
answer(struct running *r, struct reply *out, struct err *e)
{
	const struct operation *op = r->call->op;
	struct content *content;
	void *record;

	if (op->media_type) {
		content = ARENA_NEW(r->c.arena, struct content);
		out->content = content;
		return op->read(&r->c, r->in, content, e);
	}
	record = arena_alloc(r->c.arena, op->out->size);
	if (op->read(&r->c, r->in, record, e))
		return -1;
	out->content = r->c.content;
	if (!out->content)
		out->body = shape_encode(op->out, record, r->c.arena);
	running_say_beside(r, out);
	return 0;
}

int
running_read(struct running *r, struct reply *out, struct err *e)
{
	return running_decode(r, e) ? -1 : answer(r, out, e);
}

static int
read_in(struct running *r, struct reply *out, struct err *e)
{
	return running_authorize(r, r->c.db, e) ? -1 : running_read(r, out, e);
}

/* A ledger that was moved aside under a reader's hands is not a corrupt one. */
static int
blame_move(const struct running *r, struct err *e)
{
	if (e->kind && e->kind->status >= 500 && ledger_is_moved(r->c.ledger)) {
		err_clear(e);
		err_set(e, &err_unavailable,
		    "the ledger was closed while it was read");
	}
	return -1;
}

static int
run_read(struct running *r, struct reply *out, struct err *e)
{
	struct reading reading;
	int result;

	if (!r->c.ledger)
		return read_in(r, out, e);
	if (ledger_read_begin(r->c.ledger, &reading, e))
		return -1;
	r->c.reading = &reading;
	r->c.db = reading.db;
	result = read_in(r, out, e);
	out->ledger_size = r->c.holds_at;
	if (result == 0 && out->ledger_size == 0)
		result = ledger_read_size(&reading, &out->ledger_size, e);
	ledger_read_end(&reading);
	r->c.reading = NULL;
	r->c.db = NULL;
	return result ? blame_move(r, e) : 0;
}

int
call_run(struct service *service, const struct call *call, struct arena *a,
    struct reply *out, struct err *e)
{
	struct running r = {
		.call = call,
		.c = {
			.op = call->op,
			.service = service,
			.arena = a,
			.place = &call->caller->place,
			.caller = call->caller,
			.ledger = call->ledger,
			.request = call->request,
			.accept = call->accept,
			.now = service_now(service),
		},
	};

	*out = (struct reply){ .status = call->op->status };
	if (!call->ledger && !call->op->no_ledger)
		return err_set(e, &err_not_found, "there is no such ledger");
	if (call->op->effect == EFFECT_READ)
		return run_read(&r, out, e);
	return running_write(&r, out, e);
}
