#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/approvers.h"
#include "domain/catalog.h"
#include "domain/production.h"
#include "tests/support/approver.h"

#define HOUR_US INT64_C(3600000000)

struct fixture {
	struct desk desk;
	struct person ann; /* role production */
	struct person bea; /* role action */
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	desk_open(&f->desk, "production");
	person_make(&f->desk, 1, &f->ann);
	person_make(&f->desk, 2, &f->bea);
	person_register(&f->desk, &f->ann, "Ann", "[\"production\"]");
	person_register(&f->desk, &f->bea, "Bea", "[\"action\"]");
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	person_free(&f->ann);
	person_free(&f->bea);
	desk_close(&f->desk);
	free(f);
	return 0;
}

static struct err
refused(struct fixture *f, const char *operation, struct str approver,
    struct str statement, struct str signature)
{
	struct desk *d = &f->desk;
	struct reply reply;
	struct err e;

	assert_int_equal(
	    desk_call(d, &d->staff, operation,
		decision_input(d, approver, statement, signature), &reply, &e),
	    -1);
	return e;
}

static void
expect_field(const struct err *e, const char *at, const char *code)
{
	assert_ptr_equal(e->kind, &err_invalid);
	assert_non_null(e->fields);
	assert_string_equal(e->fields->at, at);
	if (code)
		assert_string_equal(e->fields->code, code);
}

static struct str
show(struct desk *d, const char *member)
{
	return json_get_str(desk_do(d, "production.show", "{}"), member);
}

/* A signed statement, with this text in place of that. */
static void
expect_bad_statement(
    struct fixture *f, const char *from, const char *to, const char *code)
{
	struct desk *d = &f->desk;
	char *text = arena_cstr(d->a, statement_make(d, "open_production", 0));
	char *at = strstr(text, from);
	struct str statement;
	struct err e;

	assert_non_null(at);
	statement = arena_strf(
	    d->a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	e = refused(f, "production.open", f->ann.uid, statement,
	    person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement));
	expect_field(&e, "#/statement", code);
	assert_true(str_is(show(d, "state"), "closed"));
}

static void
test_statements_are_judged(void **state)
{
	static const struct {
		const char *from, *to, *code;
	} cases[] = {
		{ "open_production", "close_production", "decision" },
		{ "open_production", "open", NULL },
		{ "/acme/", "/other/", "ledger" },
		{ "/production\"", "/sandbox\"", "ledger" },
		{ "\"workspace\":\"acme\"", "\"workspace\":\"other\"",
		    "workspace" },
		{ ",\"workspace\":\"acme\"", "", NULL },
		{ "{\"at\"", "{ \"at\"", "canonical" },
		{ "}", "}\n", "canonical" },
		{ "}", ",\"zeal\":1}", NULL },
		{ "\"reason\":\"Zw", "\"reason\":\"\",\"x\":\"", NULL },
		{ "Z\",\"decision\"", "\",\"decision\"", NULL },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect_bad_statement(
		    *state, cases[i].from, cases[i].to, cases[i].code);
}

static void
test_a_statement_is_of_now(void **state)
{
	static const int64_t hours[] = { -25, 1, 24 * 365 };
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct str statement;

	for (size_t i = 0; i < sizeof hours / sizeof hours[0]; i++) {
		struct err e;

		statement =
		    statement_make(d, "open_production", hours[i] * HOUR_US);
		e = refused(f, "production.open", f->ann.uid, statement,
		    person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement));
		expect_field(&e, "#/statement", "at");
	}
	statement = statement_make(d, "open_production", -23 * HOUR_US);
	desk_do(d, "production.open",
	    decision_input(d, f->ann.uid, statement,
		person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement)));
}

static void
test_signatures_are_judged(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct str statement = statement_make(d, "open_production", 0);
	struct str other = statement_make(d, "open_production", -1);
	struct str good =
	    person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement);
	struct err e;

	e = refused(f, "production.open", f->ann.uid, other, good);
	expect_field(&e, "#/signature", "signature");
	e = refused(f, "production.open", f->ann.uid, statement,
	    person_sign(d, &f->ann, "git", statement));
	expect_field(&e, "#/signature", "signature");
	e = refused(f, "production.open", f->ann.uid, statement,
	    person_sign(d, &f->bea, APPROVAL_NAMESPACE, statement));
	expect_field(&e, "#/signature", "key");
	e = refused(
	    f, "production.open", f->ann.uid, statement, STR("signed: Ann"));
	expect_field(&e, "#/signature", "form");
}

static void
test_approvers_are_judged(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct str statement = statement_make(d, "open_production", 0);
	struct str bea = person_sign(d, &f->bea, APPROVAL_NAMESPACE, statement);
	struct str ann = person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement);
	struct person twin;
	struct err e;

	e = refused(f, "production.open", f->bea.uid, statement, bea);
	expect_field(&e, "#/approver", "role");
	e = refused(f, "production.open", STR("Nobody"), statement, ann);
	expect_field(&e, "#/approver", "unknown");
	e = refused(f, "production.open",
	    STR("018f0000-0000-7000-8000-000000000000"), statement, ann);
	expect_field(&e, "#/approver", "unknown");
	person_make(d, 3, &twin);
	person_register(d, &twin, "Ann", "[\"production\"]");
	e = refused(f, "production.open", STR("Ann"), statement, ann);
	expect_field(&e, "#/approver", "ambiguous");
	desk_do(d, "approver.revoke",
	    arena_printf(d->a, "{\"uid\":\"%.*s\",\"reason\":\"left\"}",
		STR_ARGS(f->ann.uid)));
	e = refused(f, "production.open", f->ann.uid, statement, ann);
	expect_field(&e, "#/approver", "revoked");
	/* One of the name is left, who did not sign. */
	e = refused(f, "production.open", STR("Ann"), statement, ann);
	expect_field(&e, "#/signature", "key");
	person_free(&twin);
}

/* By name, and what the ledger keeps of it. */
static void
test_opened(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct str statement = statement_make(d, "open_production", 0);
	struct str signature =
	    person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement);
	struct json *v;

	assert_true(str_is(show(d, "state"), "closed"));
	assert_false(show(d, "since").p != NULL);
	v = desk_do(d, "production.open",
	    decision_input(d, STR("Ann"), statement, signature));
	assert_true(str_is(json_get_str(v, "state"), "open"));
	assert_true(str_eq(json_get_str(v, "statement"), statement));
	assert_true(str_eq(json_get_str(v, "signature"), signature));
	assert_true(str_eq(json_get_str(v, "approver_uid"), f->ann.uid));
	assert_true(str_is(show(d, "state"), "open"));
	assert_true(str_eq(show(d, "since"), json_get_str(v, "changed_at")));
}

static void
test_order(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct str kept, statement = statement_make(d, "close_production", 0);
	struct str signature =
	    person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement);
	struct err e;

	e = refused(f, "production.close", f->ann.uid, statement, signature);
	assert_ptr_equal(e.kind, &err_conflict);
	kept = statement_make(d, "open_production", 0);
	person_decide(d, &f->ann, "production.open");
	statement = statement_make(d, "open_production", 0);
	e = refused(f, "production.open", f->ann.uid, statement,
	    person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement));
	assert_ptr_equal(e.kind, &err_conflict);
	person_decide(d, &f->ann, "production.close");
	/* Signed before it was closed, though never used. */
	e = refused(f, "production.open", f->ann.uid, kept,
	    person_sign(d, &f->ann, APPROVAL_NAMESPACE, kept));
	expect_field(&e, "#/statement", "used");
	e = refused(f, "production.open", f->ann.uid, statement,
	    person_sign(d, &f->ann, APPROVAL_NAMESPACE, statement));
	expect_field(&e, "#/statement", "used");
	assert_true(str_is(show(d, "state"), "closed"));
}

static int
ask(struct desk *d, const struct caller *caller, struct err *e)
{
	struct caller fresh = *caller;
	struct reply reply;

	fresh.found = NULL; /* as a request that comes later */
	return desk_call(d, &fresh, "workspace.show", "{}", &reply, e);
}

static void
test_live_keys_follow(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct caller app;
	struct err e;

	person_decide(d, &f->ann, "production.open");
	desk_application(d, "live", "[\"workspace:read\"]", "[]", &app);
	assert_int_equal(ask(d, &app, &e), 0);
	person_decide(d, &f->ann, "production.close");
	assert_int_equal(ask(d, &app, &e), -1);
	assert_ptr_equal(e.kind, &err_production_closed);
	assert_int_equal(e.kind->status, 403);
	person_decide(d, &f->ann, "production.open");
	assert_int_equal(ask(d, &app, &e), 0);
}

static void
test_no_key_while_closed(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct caller app;
	struct reply reply;
	struct json *v;
	struct err e;

	person_decide(d, &f->ann, "production.open");
	desk_application(d, "live", "[\"workspace:read\"]", "[]", &app);
	person_decide(d, &f->ann, "production.close");
	v = json_get(desk_do(d, "credential.list", "{}"), "data")->first;
	assert_int_equal(desk_call(d, &d->staff, "credential.rotate",
			     arena_printf(d->a, "{\"uid\":\"%.*s\"}",
				 STR_ARGS(json_get_str(v, "uid"))),
			     &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_production_closed);
	/* What ends a key is never refused. */
	desk_do(d, "credential.revoke",
	    arena_printf(
		d->a, "{\"uid\":\"%.*s\"}", STR_ARGS(json_get_str(v, "uid"))));
}

static void
test_a_sandbox_is_not_opened(void **state)
{
	struct desk *d = *state;
	const char *statement = "{\"decision\":\"open\",\"reason\":\"r\"}";
	struct reply reply;
	struct err e;

	assert_int_equal(desk_call(d, &d->staff, "production.statement",
			     statement, &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_conflict);
	assert_int_equal(
	    desk_call(d, &d->staff, "production.open",
		decision_input(d, STR("x"), STR("x"), STR("x")), &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_conflict);
}

static void
test_printed_statement_is_what_is_signed(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct reply reply;
	struct str bytes;
	struct err e;

	assert_int_equal(
	    desk_call(d, &d->staff, "production.statement",
		"{\"decision\":\"open\",\"reason\":\"Go \\\"live\\\"\"}",
		&reply, &e),
	    0);
	bytes = arena_str(d->a, reply.content->bytes);
	desk_do(d, "production.open",
	    decision_input(d, f->ann.uid, bytes,
		person_sign(d, &f->ann, APPROVAL_NAMESPACE, bytes)));
}

static void
test_rebuild(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	struct str before;

	person_decide(d, &f->ann, "production.open");
	person_decide(d, &f->ann, "production.close");
	before = desk_dump(d);
	desk_rebuild(d);
	assert_true(str_eq(before, desk_dump(d)));
	assert_non_null(strstr(before.p, "INSERT INTO production_state "));
}

#define IN_PRODUCTION(test) \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PRODUCTION(test_statements_are_judged),
		IN_PRODUCTION(test_a_statement_is_of_now),
		IN_PRODUCTION(test_signatures_are_judged),
		IN_PRODUCTION(test_approvers_are_judged),
		IN_PRODUCTION(test_opened),
		IN_PRODUCTION(test_order),
		IN_PRODUCTION(test_live_keys_follow),
		IN_PRODUCTION(test_no_key_while_closed),
		WITH_DESK(test_a_sandbox_is_not_opened),
		IN_PRODUCTION(test_printed_statement_is_what_is_signed),
		IN_PRODUCTION(test_rebuild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
