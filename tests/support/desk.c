#include "tests/support/desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "domain/catalog.h"
#include "ledger/base/io.h"

#define DUMP_MAX (8u << 20)

static _Noreturn void
die(const char *what, const struct err *e)
{
	fprintf(stderr, "desk: %s: %s\n", what, e->detail);
	for (const struct err_field *f = e->fields; f; f = f->next)
		fprintf(stderr, "\t%s %s: %s\n", f->at, f->code, f->detail);
	abort();
}

static void
start(struct desk *d)
{
	struct config config = {
		.state = arena_strf(d->a, "%s/var", d->dir),
		.keys = arena_strf(d->a, "%s/keys", d->dir),
		.base_url = STR("http://127.0.0.1:8080"),
		.origin_host = STR("ledger.example.com"),
		.max_ledgers = 4,
		.free_floor = 1,
		.pack_threshold = 2000,
		.lineage_events_at_once = 1000,
		.limit_requests_per_second = 100,
		.limit_burst = 200,
		.limit_monthly = 1000000,
		.webhook_seconds = 20,
		.webhook_lease_seconds = 60,
		.webhook_retry_percent = 100,
		.access_token_minutes = 15,
		.log_level = STR("error"),
	};
	struct err e = { 0 };

	if (service_new(&config, &d->service, &e))
		die("service", &e);
}

static void
stop(struct desk *d)
{
	service_free(d->service);
	d->service = NULL;
}

void
desk_open(struct desk *d, const char *environment)
{
	*d = (struct desk){ .dir = "/tmp/probity-desk-XXXXXX" };
	d->a = arena_new();
	d->place.environment = str_from(environment);
	if (!mkdtemp(d->dir))
		die("mkdtemp", &(struct err){ .detail = "failed" });
	start(d);
	desk_move(d, "acme");
}

void
desk_move(struct desk *d, const char *workspace)
{
	d->place.workspace = str_from(workspace);
	d->staff = (struct caller){
		.kind = CALLER_OPERATOR,
		.place = d->place,
		.operator_name = STR("tester"),
	};
	desk_do(d, "workspace.create", "{}");
}

void
desk_close(struct desk *d)
{
	stop(d);
	io_remove_tree(d->dir);
	arena_free(d->a);
}

int
desk_set_up(void **state)
{
	struct desk *d = calloc(1, sizeof *d);

	desk_open(d, "sandbox");
	*state = d;
	return 0;
}

int
desk_tear_down(void **state)
{
	desk_close(*state);
	free(*state);
	return 0;
}

static int
acquire(struct desk *d, const struct caller *caller, const struct operation *op,
    struct ledger **ledger, struct err *e)
{
	*ledger = NULL;
	if (op->no_ledger)
		return 0;
	return service_acquire(d->service, &caller->place, ledger, e);
}

int
desk_call(struct desk *d, const struct caller *caller, const char *id,
    const char *input, struct reply *reply, struct err *e)
{
	struct call call = {
		.op = catalog_by_id(str_from(id)),
		.caller = caller,
		.target = str_from(id),
		.body = str_from(input),
		.request = uid_new(),
	};
	struct json *body;
	int result;

	*e = (struct err){ 0 };
	if (!call.op)
		die(id, &(struct err){ .detail = "no such operation" });
	if (json_parse(d->a, call.body, &json_limits_default, &body, e))
		die(input, e);
	call.input = (struct input){ .body = body, .flat = true };
	if (acquire(d, caller, call.op, &call.ledger, e))
		die("ledger", e);
	result = call_run(d->service, &call, d->a, reply, e);
	if (call.ledger)
		service_release(d->service, call.ledger);
	return result;
}

struct json *
desk_do(struct desk *d, const char *id, const char *input)
{
	struct reply reply;
	struct err e;

	if (desk_call(d, &d->staff, id, input, &reply, &e))
		die(id, &e);
	return reply.body;
}

void
desk_application(struct desk *d, const char *name, const char *scopes,
    const char *entitlements, struct caller *out)
{
	struct ledger *ledger;
	struct json *body;
	struct err e = { 0 };

	body = desk_do(d, "application.create",
	    arena_printf(d->a,
		"{\"name\":\"%s\",\"responsible\":\"A. Person\","
		"\"scopes\":%s,\"entitlements\":%s}",
		name, scopes, entitlements));
	body = desk_do(d, "credential.issue",
	    arena_printf(d->a, "{\"application\":\"%.*s\"}",
		STR_ARGS(json_get_str(body, "uid"))));
	if (call_authenticate(
		d->service, json_get_str(body, "key"), d->a, out, &ledger, &e))
		die("authenticate", &e);
	service_release(d->service, ledger);
}

struct str
desk_dump(struct desk *d)
{
	const char *command = arena_printf(d->a,
	    "sqlite3 '%s/var/ledgers/%.*s/%.*s/state.db' .dump", d->dir,
	    STR_ARGS(d->place.workspace), STR_ARGS(d->place.environment));
	struct str text;
	struct buf b;
	char piece[4096];
	size_t n;
	FILE *f;

	stop(d);
	f = popen(command, "r");
	buf_init(&b, DUMP_MAX);
	while (f && (n = fread(piece, 1, sizeof piece, f)) > 0)
		buf_add(&b, (struct str){ piece, n });
	if (!f || pclose(f) != 0 || buf_failed(&b))
		die("sqlite3", &(struct err){ .detail = "failed" });
	text = arena_str(d->a, buf_str(&b));
	buf_fini(&b);
	start(d);
	return text;
}

void
desk_rebuild(struct desk *d)
{
	struct ledger_options options;
	struct err e = { 0 };
	uint64_t events;

	if (service_ledger_options(d->service, &d->place, d->a, &options, &e))
		die("options", &e);
	stop(d);
	if (ledger_rebuild(&options, NULL, NULL, &events, &e))
		die("rebuild", &e);
	start(d);
}
