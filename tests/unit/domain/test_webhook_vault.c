#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "domain/webhooks/secret.h"
#include "domain/worker.h"
#include "tests/support/desk.h"

#define SCOPES   "[\"agent:execution:webhooks\"]"
#define PRODUCTS "[\"agents\"]"
#define REGISTER "agent_execution.webhook_register"
#define HOOK     "{\"url\":\"https://93.184.215.14/hook\"}"

struct bench {
	struct desk desk;
	struct caller app;
	struct worker worker;
};

static void
set_up(struct bench *b)
{
	struct err e = { 0 };

	*b = (struct bench){ 0 };
	desk_open(&b->desk, "sandbox");
	desk_application(&b->desk, "pay", SCOPES, PRODUCTS, &b->app);
	b->worker = (struct worker){ .service = b->desk.service,
		.place = b->desk.place,
		.name = STR("worker") };
	if (service_acquire(
		b->desk.service, &b->desk.place, &b->worker.ledger, &e))
		fail_msg("%s", e.detail);
}

static void
tear_down(struct bench *b)
{
	service_release(b->desk.service, b->worker.ledger);
	desk_close(&b->desk);
}

static struct json *
register_hook(struct bench *b)
{
	struct reply reply;
	struct err e;

	if (desk_call(&b->desk, &b->app, REGISTER, HOOK, &reply, &e))
		fail_msg("%s", e.detail);
	return reply.body;
}

static struct webhook_vault
open_vault(struct bench *b)
{
	struct caller caller = worker_caller(&b->worker);
	struct context c = worker_context(&b->worker, &caller, b->desk.a);
	struct webhook_vault vault;
	struct err e = { 0 };

	if (webhook_vault_open(&c, &vault, &e))
		fail_msg("%s", e.detail);
	return vault;
}

static struct str
read_box(struct bench *b)
{
	struct str box = STR_NONE;
	struct reading reading;
	struct err e = { 0 };
	struct rows r;

	assert_int_equal(ledger_read_begin(b->worker.ledger, &reading, &e), 0);
	assert_int_equal(
	    db_query(reading.db, &r, &e, "SELECT secret FROM webhook", ""), 0);
	if (rows_next(&r, &e) == 1)
		box = rows_str(&r, 0, b->desk.a);
	assert_int_equal(rows_end(&r, &e), 0);
	ledger_read_end(&reading);
	return box;
}

/* A box opens in its ledger and for its webhook alone, and holds what was
 * shown. */
static void
test_box_is_bound(void **state)
{
	struct uid uid, other = { { 1 } };
	struct webhook_secret secret;
	struct webhook_vault vault;
	struct str origin, box;
	struct bench b;
	struct json *v;

	(void)state;
	set_up(&b);
	v = register_hook(&b);
	vault = open_vault(&b);
	origin = ledger_origin(b.worker.ledger);
	box = read_box(&b);
	assert_true(uid_parse(json_get_str(v, "uid"), &uid));
	assert_true(webhook_box_open(&vault, origin, uid, box, &secret));
	assert_true(str_eq(
	    webhook_secret_text(b.desk.a, &secret), json_get_str(v, "secret")));
	assert_false(webhook_box_open(&vault, origin, other, box, &secret));
	assert_false(
	    webhook_box_open(&vault, STR("another"), uid, box, &secret));
	vault.key[0] ^= 1;
	assert_false(webhook_box_open(&vault, origin, uid, box, &secret));
	tear_down(&b);
}

static void
lose_key(struct bench *b)
{
	struct ledger_options options;
	struct err e = { 0 };

	assert_int_equal(service_ledger_options(b->desk.service, &b->desk.place,
			     b->desk.a, &options, &e),
	    0);
	assert_int_equal(unlink(arena_printf(
			     b->desk.a, "%s/webhooks.key", options.keys_dir)),
	    0);
}

static void
expect_key_wanted(struct bench *b)
{
	struct reply reply;
	struct err e;

	assert_int_equal(
	    desk_call(&b->desk, &b->app, REGISTER, HOOK, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	assert_non_null(strstr(e.detail, "webhook rotate-secret"));
}

/* Another key is not made while there is anything that only the lost one
 * opens, unless an operator says so by a rotation. */
static void
test_lost_key(void **state)
{
	struct bench b;
	struct json *v;
	const char *uid;

	(void)state;
	set_up(&b);
	v = register_hook(&b);
	uid = arena_printf(
	    b.desk.a, "{\"uid\":\"%.*s\"}", STR_ARGS(json_get_str(v, "uid")));
	lose_key(&b);
	expect_key_wanted(&b);
	expect_key_wanted(&b);
	desk_do(&b.desk, "webhook.rotate_secret", uid);
	register_hook(&b);
	tear_down(&b);
}

/* What is revoked needs no key. */
static void
test_lost_key_of_revoked(void **state)
{
	struct bench b;
	struct json *v;

	(void)state;
	set_up(&b);
	v = register_hook(&b);
	desk_do(&b.desk, "agent_execution.webhook_revoke",
	    arena_printf(b.desk.a, "{\"uid\":\"%.*s\"}",
		STR_ARGS(json_get_str(v, "uid"))));
	lose_key(&b);
	register_hook(&b);
	tear_down(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_box_is_bound),
		cmocka_unit_test(test_lost_key),
		cmocka_unit_test(test_lost_key_of_revoked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
