#include "fcgi/ledger_pages.h"

#include "domain/call.h"
#include "fcgi/limits.h"

/* What call_authorize judges by. */
static const struct operation reading_a_ledger = {
	.id = "ledger.pages",
	.method = "GET",
	.scope = "trust:read",
	.entitlement = "core-platform",
};

int
ledger_page_unknown(struct err *e)
{
	return err_set(e, &err_not_found, "there is no such path");
}

static struct str
path_param(const struct request *r, const char *name)
{
	for (size_t i = 0; i < r->n_params; i++)
		if (r->params[i].place == IN_PATH &&
		    str_is(r->params[i].name, name))
			return r->params[i].value;
	return STR_NONE;
}

/* Whether it may is answered first, as everywhere. The ledger of the path is
 * not looked for, so nothing tells whether it is there. */
static int
check(struct front *front, struct request *r, const struct ledger_visit *visit,
    struct arena *a, struct response *response, struct err *e)
{
	const struct place *place = &visit->caller.place;

	request_serve(r, &visit->caller);
	if (limits_pass(
		front, &visit->caller, &reading_a_ledger, a, response, e))
		return -1;
	if (!str_eq(path_param(r, "workspace"), place->workspace) ||
	    !str_eq(path_param(r, "environment"), place->environment))
		return ledger_page_unknown(e);
	return 0;
}

/* A closed ledger is read with a key of the one in use. */
static int
go_to_closed(struct front *front, const struct request *r,
    struct ledger_visit *visit, struct err *e)
{
	struct str number = path_param(r, "closed");
	struct err cause = { 0 };
	uint64_t n;

	if (!number.p)
		return 0;
	if (!str_to_u64(number, &n) || n == 0 || n > UINT16_MAX)
		return ledger_page_unknown(e);
	ledger_visit_end(front, visit);
	visit->caller.place.closed = (unsigned)n;
	if (service_acquire(front->service, &visit->caller.place,
		&visit->ledger, &cause) == 0)
		return 0;
	if (cause.kind == &err_not_found)
		return ledger_page_unknown(e);
	return err_set(e, cause.kind, "%s", cause.detail);
}

int
ledger_visit_begin(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct ledger_visit *visit, struct err *e)
{
	struct str token;

	*visit = (struct ledger_visit){ 0 };
	if (header_password(&r->headers, a, &token, e) == 0 &&
	    call_authenticate(front->service, token, a, &visit->caller,
		&visit->ledger, e) == 0 &&
	    check(front, r, visit, a, response, e) == 0 &&
	    go_to_closed(front, r, visit, e) == 0)
		return 0;
	ledger_visit_end(front, visit);
	if (e->kind == &err_unauthorized)
		response_add(
		    response, a, "WWW-Authenticate", "Basic realm=\"probity\"");
	return -1;
}

void
ledger_visit_end(struct front *front, struct ledger_visit *visit)
{
	service_release(front->service, visit->ledger);
	visit->ledger = NULL;
}
