#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "domain/worker.h"
#include "tests/support/desk.h"

#define SCOPES   "[\"agent:execution:webhooks\"]"
#define PRODUCTS "[\"agents\"]"
#define HOOK     "https://93.184.215.14/hook"

static const char *
register_hook(struct desk *d, const char *name, struct caller *app)
{
	struct reply reply;
	struct err e;

	desk_application(d, name, SCOPES, PRODUCTS, app);
	if (desk_call(d, app, "agent_execution.webhook_register",
		"{\"url\":\"" HOOK "\",\"events\":[\"ledger.checkpoint\"]}",
		&reply, &e))
		fail_msg("%s", e.detail);
	return arena_cstr(d->a, json_get_str(reply.body, "uid"));
}

/* What the worker's schedule wants, and all jobs. */
static void
work(struct desk *d)
{
	struct worker w = {
		.service = d->service, .place = d->place, .name = STR("worker")
	};
	struct err e = { 0 };
	int ran;

	if (service_acquire(d->service, &d->place, &w.ledger, &e) ||
	    worker_schedule(&w, d->a, &e))
		fail_msg("%s", e.detail);
	do
		ran = worker_run_one(&w, d->a, &e);
	while (ran == 1);
	if (ran < 0)
		fail_msg("%s", e.detail);
	service_release(d->service, w.ledger);
}

static const struct json *
first_of(struct desk *d, const char *id)
{
	return json_get(desk_do(d, id, "{}"), "data")->first;
}

static bool
has(const struct json *row, const char *name, const char *value)
{
	return str_is(json_get_str(row, name), value);
}

/* Nothing more queues up for it, and nothing that was queued waits for ever. */
static void
test_revoked_application(void **state)
{
	struct caller gone, other;
	const char *hook, *kept;
	char uid[UID_TEXT + 1];
	const struct json *row;
	struct desk d;

	(void)state;
	desk_open(&d, "sandbox");
	hook = register_hook(&d, "gone", &gone);
	kept = register_hook(&d, "other", &other);
	work(&d);
	uid_format(gone.application, uid);
	desk_do(&d, "application.revoke",
	    arena_printf(d.a, "{\"uid\":\"%s\"}", uid));
	work(&d);
	row = first_of(&d, "agent_execution.webhooks");
	assert_true(has(row, "uid", hook) && has(row, "status", "revoked"));
	row = row->next;
	assert_true(has(row, "uid", kept) && has(row, "status", "active"));
	row = first_of(&d, "webhook.deliveries");
	assert_true(has(row, "webhook_uid", hook));
	for (; row; row = row->next)
		assert_true(has(row, "status",
		    has(row, "webhook_uid", kept) ? "queued" : "dead"));
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_revoked_application),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
