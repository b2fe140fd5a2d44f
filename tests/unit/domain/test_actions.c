#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/codec/canon.h"
#include "ledger/codec/text.h"
#include "tests/support/desk.h"

#define SCOPES "[\"actions:create\",\"agent:execution:read\"]"
#define BOTH   "[\"financial-actions\",\"agents\"]"

/* Connector 1 is a sandbox; 2 a file connector, live only. Counterparties 1
 * and 2. Sources: an invoice over 1000.00 EUR of 1; an obligation over 500.00
 * EUR of 1 under the arrangement; an invoice over 300 JPY of 2. */
struct bench {
	struct desk desk;
	struct caller app, other;
	const char *arrangement, *invoice, *obligation, *yen;
};

static const char *
uid_in(struct bench *b, const struct json *v)
{
	return arena_cstr(b->desk.a, json_get_str(v, "uid"));
}

/* Imports one record; its uid. */
static const char *
add_source(
    struct bench *b, const char *kind, const char *header, const char *row)
{
	struct desk *d = &b->desk;
	struct json *v = desk_do(d, "source_record.import",
	    arena_printf(d->a,
		"{\"format\":\"csv\",\"kind\":\"%s\",\"file\":\"%s\\n%s\\n\"}",
		kind, header, row));
	struct str import = json_get_str(v, "uid");

	v = desk_do(d, "source_record.list",
	    arena_printf(d->a, "{\"import_uid\":\"%.*s\"}", STR_ARGS(import)));
	assert_int_equal(json_get(v, "data")->n, 1);
	return uid_in(b, json_get(v, "data")->first);
}

static void
add_parties(struct bench *b)
{
	struct desk *d = &b->desk;

	desk_do(d, "connector.add",
	    "{\"name\":\"Try\",\"kind\":\"sandbox\",\"modes\":[\"sandbox\"]}");
	desk_do(d, "connector.add",
	    "{\"name\":\"Bank\",\"kind\":\"file\",\"modes\":[\"live\"]}");
	desk_do(d, "counterparty.add",
	    "{\"name\":\"Lumber\",\"account\":\"DE89370400440532013000\"}");
	desk_do(d, "counterparty.add",
	    "{\"name\":\"Kaisha\",\"account\":\"998877\"}");
	b->arrangement =
	    uid_in(b, desk_do(d, "arrangement.add",
			  "{\"counterparty_id\":1,\"kind\":\"supply\","
			  "\"currency\":\"EUR\",\"limit\":\"150.00\"}"));
}

static int
open_bench(void **state)
{
	static struct bench b;

	desk_open(&b.desk, "sandbox");
	desk_application(&b.desk, "pay", SCOPES, BOTH, &b.app);
	desk_application(&b.desk, "other", SCOPES, BOTH, &b.other);
	add_parties(&b);
	b.invoice = add_source(&b, "invoice",
	    "reference,amount,currency,counterparty", "I-1,1000.00,EUR,1");
	b.obligation = add_source(&b, "obligation",
	    "reference,amount,currency,counterparty,arrangement",
	    arena_printf(b.desk.a, "O-1,500.00,EUR,1,%s", b.arrangement));
	b.yen = add_source(&b, "invoice",
	    "reference,amount,currency,counterparty", "I-2,300,JPY,2");
	*state = &b;
	return 0;
}

static int
close_bench(void **state)
{
	struct bench *b = *state;

	desk_close(&b->desk);
	return 0;
}

/* A request over the invoice with some members changed or added: the ones of
 * `change` go before. */
static const char *
request_over(struct bench *b, const char *source, const char *change)
{
	static const char *const members[] = { "action_key", "connector_id",
		"counterparty_id", "currency", "amount", "execution_mode" };
	static const char *const values[] = { "\"supplier-payment\"", "1", "1",
		"\"EUR\"", "100", "\"sandbox\"" };
	struct arena *a = b->desk.a;
	const char *text = change;

	for (size_t i = 0; i < 6; i++)
		if (!strstr(change, arena_printf(a, "\"%s\"", members[i])))
			text = arena_printf(a, "%s%s\"%s\":%s", text,
			    *text ? "," : "", members[i], values[i]);
	if (strstr(change, "\"source_uid\""))
		return arena_printf(a, "{%s}", text);
	return arena_printf(a, "{%s,\"source_uid\":\"%s\"}", text, source);
}

static int
create(struct bench *b, const char *source, const char *change,
    struct reply *reply, struct err *e)
{
	return desk_call(&b->desk, &b->app, "action.create_credit",
	    request_over(b, source, change), reply, e);
}

static struct json *
must_create(struct bench *b, const char *source, const char *change)
{
	struct reply reply;
	struct err e;

	if (create(b, source, change, &reply, &e))
		fail_msg("%s: %s", change, e.detail);
	assert_int_equal(reply.status, 201);
	return reply.body;
}

static void
expect_refusal(struct bench *b, const char *source, const char *change,
    const struct err_kind *kind, const char *at)
{
	struct reply reply;
	struct err e;

	if (create(b, source, change, &reply, &e) == 0)
		fail_msg("%s: not refused", change);
	if (e.kind != kind)
		fail_msg("%s: %s %s", change, e.kind->slug, e.detail);
	for (const struct err_field *f = e.fields; f; f = f->next)
		if (strcmp(f->at, at) == 0)
			return;
	fail_msg("%s: nothing at %s", change, at);
}

static void
expect_str(const struct json *v, const char *name, const char *text)
{
	struct str s = json_get_str(v, name);

	if (!str_is(s, text))
		fail_msg("%s is \"%.*s\", not \"%s\"", name, STR_ARGS(s), text);
}

static const char *
outcome(struct bench *b, const struct json *action, const char *control)
{
	const struct json *v = json_get(action, "controls")->first;

	for (; v; v = v->next)
		if (str_is(json_get_str(v, "id"), control))
			return arena_cstr(
			    b->desk.a, json_get_str(v, "outcome"));
	return "absent";
}

static void
test_create(void **state)
{
	struct bench *b = *state;
	struct json *v = must_create(b, b->invoice,
	    "\"amount\":1E2,\"purpose\":\"Planks\","
	    "\"external_reference\":\"E2E-1\"");
	struct json *envelope = json_get(v, "envelope");
	struct str bytes;
	char hex[DIGEST_HEX + 1];
	struct err e = { 0 };

	expect_str(v, "state", "created");
	expect_str(v, "origin", "application");
	expect_str(v, "amount", "100.00");
	expect_str(v, "external_reference", "E2E-1");
	assert_int_equal(json_get(v, "arrangement_uid")->type, JSON_NULL);
	assert_non_null(json_get(v, "evidence"));
	assert_string_equal(outcome(b, v, "source_amount"), "passed");
	assert_string_equal(
	    outcome(b, v, "arrangement_limit"), "not_applicable");

	/* Whoever holds the reply can check the hash. */
	assert_int_equal(canon_str(b->desk.a, envelope, &bytes, &e), 0);
	digest_hex(sha256(bytes), hex);
	expect_str(v, "envelope_hash", hex);
	expect_str(envelope, "ledger", "ledger.example.com/acme/sandbox");
	expect_str(envelope, "uid", uid_in(b, v));
	expect_str(json_get(envelope, "source"), "uid", b->invoice);
	assert_null(json_get(envelope, "arrangement_uid"));
}

static void
test_fields(void **state)
{
	static const struct {
		const char *change, *at;
	} bad[] = {
		{ "\"amount\":1e400", "#/amount" },
		{ "\"amount\":-0", "#/amount" },
		{ "\"amount\":0", "#/amount" },
		{ "\"amount\":-5", "#/amount" },
		{ "\"amount\":0.001", "#/amount" },
		{ "\"amount\":\"NaN\"", "#/amount" },
		{ "\"amount\":true", "#/amount" },
		{ "\"amount\":null", "#/amount" },
		{ "\"amount\":12345678901234567890", "#/amount" },
		{ "\"currency\":\"EURO\"", "#/currency" },
		{ "\"currency\":\"eur\"", "#/currency" },
		{ "\"currency\":\"ABC\"", "#/currency" },
		{ "\"currency\":\"XAU\"", "#/currency" },
		{ "\"source_uid\":\"x\"", "#/source_uid" },
		{ "\"arrangement_uid\":\"x\"", "#/arrangement_uid" },
		{ "\"connector_id\":0", "#/connector_id" },
		{ "\"connector_id\":\"1\"", "#/connector_id" },
		{ "\"connector_id\":1.5", "#/connector_id" },
		{ "\"counterparty_id\":-1", "#/counterparty_id" },
		{ "\"execution_mode\":\"test\"", "#/execution_mode" },
		{ "\"action_key\":\"\"", "#/action_key" },
		{ "\"action_key\":\"A b\"", "#/action_key" },
		{ "\"purpose\":\"\"", "#/purpose" },
		{ "\"external_reference\":"
		  "\"123456789012345678901234567890123456\"",
		    "#/external_reference" },
		{ "\"purpose\":\"a\\u0007b\"", "#/purpose" },
		{ "\"approved\":true", "#/approved" },
	};
	struct bench *b = *state;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		expect_refusal(
		    b, b->invoice, bad[i].change, &err_invalid, bad[i].at);
}

static void
test_scope(void **state)
{
	static const struct {
		const char *change, *at;
	} bad[] = {
		{ "\"source_uid\":\"01930a3e-7c00-7000-8000-0000000000c3\"",
		    "#/source_uid" },
		{ "\"arrangement_uid\":"
		  "\"01930a3e-7c00-7000-8000-0000000000c3\"",
		    "#/arrangement_uid" },
		{ "\"connector_id\":9", "#/connector_id" },
		{ "\"connector_id\":2", "#/connector_id" },
		{ "\"counterparty_id\":9", "#/counterparty_id" },
		{ "\"counterparty_id\":2", "#/counterparty_id" },
		{ "\"currency\":\"USD\"", "#/currency" },
		{ "\"amount\":900.01", "#/amount" },
		{ "\"execution_mode\":\"live\"", "#/execution_mode" },
		{ "\"external_reference\":\"E2E-1\"", "#/external_reference" },
	};
	struct bench *b = *state;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		expect_refusal(
		    b, b->invoice, bad[i].change, &err_control, bad[i].at);
	/* The source has an arrangement, so it must be named. */
	expect_refusal(b, b->obligation, "", &err_control, "#/arrangement_uid");
}

/* A refusal reserves nothing; the rest can be taken to the last cent, and no
 * cent more. */
static void
test_remaining(void **state)
{
	struct bench *b = *state;

	expect_refusal(
	    b, b->invoice, "\"amount\":900.01", &err_control, "#/amount");
	must_create(b, b->invoice, "\"amount\":\"899.99\"");
	expect_refusal(
	    b, b->invoice, "\"amount\":0.02", &err_control, "#/amount");
	must_create(b, b->invoice, "\"amount\":0.01");
	expect_refusal(
	    b, b->invoice, "\"amount\":0.01", &err_control, "#/amount");
	must_create(b, b->yen,
	    "\"amount\":300.00,\"currency\":\"JPY\",\"counterparty_id\":2");
}

/* Beyond the arrangement's limit an action is created, and its failed control
 * kept. */
static void
test_policy(void **state)
{
	struct bench *b = *state;
	const char *named = arena_printf(
	    b->desk.a, "\"arrangement_uid\":\"%s\"", b->arrangement);
	struct json *v = must_create(b, b->obligation, named), *first;

	assert_string_equal(outcome(b, v, "arrangement_limit"), "passed");
	v = must_create(b, b->obligation, named);
	assert_string_equal(outcome(b, v, "arrangement_limit"), "failed");
	first = json_get(v, "controls")->first;
	expect_str(first, "detail", "100.00 are open of a limit of 150.00");
	assert_int_equal(
	    json_get(json_get(json_get(v, "envelope"), "controls"), "failed")
		->n,
	    1);
}

static const char *
query_of(struct bench *b, const char *uid)
{
	return arena_printf(b->desk.a, "{\"uid\":\"%s\"}", uid);
}

static void
test_control_state(void **state)
{
	struct bench *b = *state;
	struct json *made = must_create(b, b->obligation,
	    arena_printf(b->desk.a, "\"amount\":1,\"arrangement_uid\":\"%s\"",
		b->arrangement));
	const char *query = query_of(b, uid_in(b, made));
	struct reply reply;
	struct err e;

	assert_int_equal(desk_call(&b->desk, &b->app, "agent_execution.action",
			     query, &reply, &e),
	    0);
	assert_int_equal(reply.status, 200);
	expect_str(reply.body, "state", "created");
	expect_str(reply.body, "amount", "1.00");
	expect_str(json_get(reply.body, "approval"), "state", "not_requested");
	expect_str(
	    json_get(reply.body, "reconciliation"), "state", "not_started");
	assert_true(str_eq(json_get_str(reply.body, "envelope_hash"),
	    json_get_str(made, "envelope_hash")));
	assert_null(json_get(reply.body, "counterparty_id"));
	assert_null(json_get(reply.body, "envelope"));
}

/* Of another application as of nobody: the same refusal to the last byte. */
static void
test_foreign_action(void **state)
{
	struct bench *b = *state;
	struct json *made = must_create(b, b->obligation,
	    arena_printf(b->desk.a, "\"amount\":1,\"arrangement_uid\":\"%s\"",
		b->arrangement));
	static const char *const ids[] = { "agent_execution.action",
		"agent_execution.action_assurance" };
	struct reply reply;
	struct err foreign, unknown;

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(
		    desk_call(&b->desk, &b->other, ids[i],
			query_of(b, uid_in(b, made)), &reply, &foreign),
		    -1);
		assert_int_equal(
		    desk_call(&b->desk, &b->other, ids[i],
			query_of(b, "01930a3e-7c00-7000-8000-0000000000c3"),
			&reply, &unknown),
		    -1);
		assert_ptr_equal(foreign.kind, &err_not_found);
		assert_ptr_equal(unknown.kind, &err_not_found);
		assert_string_equal(foreign.detail, unknown.detail);
	}
}

static void
test_assurance(void **state)
{
	struct bench *b = *state;
	struct json *made = must_create(b, b->obligation,
	    arena_printf(b->desk.a, "\"amount\":1,\"arrangement_uid\":\"%s\"",
		b->arrangement));
	struct json *evidence = json_get(made, "evidence"), *ledger, *action;
	struct reply reply;
	struct err e;

	assert_int_equal(
	    desk_call(&b->desk, &b->app, "agent_execution.action_assurance",
		query_of(b, uid_in(b, made)), &reply, &e),
	    0);
	ledger = json_get(reply.body, "ledger");
	action = json_get(reply.body, "action");
	expect_str(ledger, "origin", "ledger.example.com/acme/sandbox");
	assert_int_equal(
	    json_get(ledger, "last_verification")->type, JSON_NULL);
	/* It was the last event, so it is the ledger's head. */
	assert_true(str_eq(json_get_str(ledger, "head"),
	    json_get_str(evidence, "event_hash")));
	assert_true(str_eq(json_get_str(ledger, "checkpoint"),
	    json_get_str(evidence, "checkpoint")));
	assert_true(str_eq(json_get_str(action, "event_hash"),
	    json_get_str(evidence, "event_hash")));
	assert_true(str_eq(json_get_str(action, "envelope_hash"),
	    json_get_str(made, "envelope_hash")));
	assert_int_equal(action->n, 4);
}

/* The same tables from the events alone; and reservations go on counting. */
static void
test_rebuild(void **state)
{
	struct bench *b = *state;
	struct str before = desk_dump(&b->desk), after;

	desk_rebuild(&b->desk);
	after = desk_dump(&b->desk);
	assert_true(str_eq(before, after));
	assert_non_null(strstr(before.p, "action_source_reservation VALUES"));
	expect_refusal(
	    b, b->invoice, "\"amount\":0.01", &err_control, "#/amount");
}

/* The refusal of a source of another workspace is that of an unknown one, to
 * the last byte. */
static void
test_foreign_source(void **state)
{
	struct bench *b = *state;
	struct reply reply;
	struct err foreign, unknown;
	struct buf x, y;

	desk_move(&b->desk, "emca");
	add_parties(b);
	desk_application(&b->desk, "pay", SCOPES, BOTH, &b->app);
	assert_int_equal(create(b, b->invoice, "", &reply, &foreign), -1);
	assert_int_equal(create(b, "01930a3e-7c00-7000-8000-0000000000c3", "",
			     &reply, &unknown),
	    -1);
	assert_ptr_equal(foreign.kind, &err_control);
	assert_string_equal(foreign.detail, unknown.detail);
	buf_init(&x, 65536);
	buf_init(&y, 65536);
	json_write(foreign.extension, &x);
	json_write(unknown.extension, &y);
	assert_true(str_eq(buf_str(&x), buf_str(&y)));
	buf_fini(&x);
	buf_fini(&y);
}

int
main(void)
{
	/* One after the other over one ledger. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_remaining),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_control_state),
		cmocka_unit_test(test_foreign_action),
		cmocka_unit_test(test_assurance),
		cmocka_unit_test(test_rebuild),
		cmocka_unit_test(test_foreign_source),
	};

	return cmocka_run_group_tests(tests, open_bench, close_bench);
}
