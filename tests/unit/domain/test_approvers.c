#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/approver.h"

static void
expect_field(const struct err *e, const char *at, const char *code)
{
	assert_ptr_equal(e->kind, &err_invalid);
	assert_non_null(e->fields);
	assert_string_equal(e->fields->at, at);
	assert_string_equal(e->fields->code, code);
}

static void
test_added(void **state)
{
	struct desk *d = *state;
	struct person ann;
	struct json *v;

	person_make(d, 1, &ann);
	person_register(d, &ann, "Ann Approver", "[\"production\",\"action\"]");
	v = json_get(desk_do(d, "approver.list", "{}"), "data")->first;
	assert_true(str_is(json_get_str(v, "name"), "Ann Approver"));
	assert_true(str_eq(json_get_str(v, "uid"), ann.uid));
	assert_true(str_is(json_get_str(v, "status"), "active"));
	assert_int_equal(json_get(v, "roles")->n, 2);
	/* ssh-keygen -l -f of the line. */
	assert_true(str_is(json_get_str(v, "fingerprint"),
	    "SHA256:fe85JkIjo8VPe+XqXJGH5Mau1EMFdK1OdKvJUFicyA8"));
	/* The comment names a person as well. */
	assert_true(
	    str_eq(json_get_str(v, "public_key"), str_slice(ann.line, 0, 80)));
	person_free(&ann);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *input, *at, *code;
	} cases[] = {
		{ "{\"name\":\"A\",\"public_key\":\"ssh-rsa AAAAB3NzaC1yc2E "
		  "a@b\",\"roles\":[\"action\"]}",
		    "#/public_key", "key" },
		{ "{\"name\":\"A\",\"public_key\":\"no key\","
		  "\"roles\":[\"action\"]}",
		    "#/public_key", "key" },
		{ "{\"name\":\"A\",\"public_key\":\"x\",\"roles\":[\"king\"]}",
		    "#/roles/0", "value" },
		{ "{\"name\":\"A\",\"public_key\":\"x\",\"roles\":[]}",
		    "#/roles", "min" },
		{ "{\"public_key\":\"x\",\"roles\":[\"action\"]}", "#/name",
		    "required" },
	};
	struct desk *d = *state;
	struct reply reply;
	struct err e;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(desk_call(d, &d->staff, "approver.add",
				     cases[i].input, &reply, &e),
		    -1);
		assert_string_equal(e.fields->at, cases[i].at);
		if (strcmp(cases[i].code, "key") == 0)
			assert_string_equal(e.fields->code, cases[i].code);
	}
}

static void
add_again(struct desk *d, const struct person *p, struct err *e)
{
	struct str line = str_slice(p->line, 0, 80);
	struct reply reply;

	assert_int_equal(desk_call(d, &d->staff, "approver.add",
			     arena_printf(d->a,
				 "{\"name\":\"Other\",\"public_key\":\"%.*s\","
				 "\"roles\":[\"action\",\"action\"]}",
				 STR_ARGS(line)),
			     &reply, e),
	    -1);
}

/* A key belongs to one record, for ever. */
static void
test_a_key_is_registered_once(void **state)
{
	struct desk *d = *state;
	struct person ann;
	struct reply reply;
	struct str again;
	struct err e;

	person_make(d, 1, &ann);
	add_again(d, &ann, &e);
	expect_field(&e, "#/roles/1", "duplicate");
	person_register(d, &ann, "Ann", "[\"action\"]");
	again = arena_strf(d->a,
	    "{\"name\":\"B\",\"public_key\":\"%.*s\",\"roles\":[\"action\"]}",
	    STR_ARGS(str_slice(ann.line, 0, 80)));
	assert_int_equal(
	    desk_call(d, &d->staff, "approver.add", again.p, &reply, &e), -1);
	expect_field(&e, "#/public_key", "duplicate");
	desk_do(d, "approver.revoke",
	    arena_printf(d->a, "{\"uid\":\"%.*s\",\"reason\":\"lost\"}",
		STR_ARGS(ann.uid)));
	assert_int_equal(
	    desk_call(d, &d->staff, "approver.add", again.p, &reply, &e), -1);
	expect_field(&e, "#/public_key", "duplicate");
	person_free(&ann);
}

static void
test_revoked_in_order(void **state)
{
	struct desk *d = *state;
	struct person ann;
	struct reply reply;
	struct err e;
	const char *input;

	person_make(d, 1, &ann);
	person_register(d, &ann, "Ann", "[\"action\"]");
	input = arena_printf(
	    d->a, "{\"uid\":\"%.*s\",\"reason\":\"left\"}", STR_ARGS(ann.uid));
	assert_true(
	    str_is(json_get_str(desk_do(d, "approver.revoke", input), "status"),
		"revoked"));
	assert_int_equal(
	    desk_call(d, &d->staff, "approver.revoke", input, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	/* Of another workspace: like one that is not there. */
	desk_move(d, "other");
	assert_int_equal(
	    desk_call(d, &d->staff, "approver.revoke", input, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_not_found);
	person_free(&ann);
}

static void
test_pages(void **state)
{
	struct desk *d = *state;
	struct json *v;
	int64_t next;

	for (uint8_t i = 1; i <= 3; i++) {
		struct person p;

		person_make(d, i, &p);
		person_register(
		    d, &p, arena_printf(d->a, "P%d", i), "[\"hold\"]");
		person_free(&p);
	}
	v = desk_do(d, "approver.list", "{\"limit\":2}");
	assert_int_equal(json_get(v, "data")->n, 2);
	assert_true(json_get_int(v, "next_after_id", &next));
	assert_int_equal(next, 2);
	v = desk_do(d, "approver.list", "{\"limit\":2,\"after_id\":2}");
	assert_int_equal(json_get(v, "data")->n, 1);
	assert_int_equal(json_get(v, "has_more")->type, JSON_FALSE);
	assert_true(
	    str_is(json_get_str(json_get(v, "data")->first, "name"), "P3"));
}

static void
test_a_name_can_be_erased(void **state)
{
	struct desk *d = *state;
	struct person ann;
	struct json *v;

	person_make(d, 1, &ann);
	person_register(d, &ann, "Ann Approver", "[\"hold\"]");
	assert_null(strstr(desk_dump(d).p, "Ann Approver"));
	desk_do(d, "subject.erase",
	    arena_printf(d->a, "{\"subject\":\"%.*s\",\"reason\":\"asked\"}",
		STR_ARGS(ann.uid)));
	v = json_get(desk_do(d, "approver.list", "{}"), "data")->first;
	assert_int_equal(json_get(v, "name")->type, JSON_NULL);
	assert_true(json_get_str(v, "erased_at").p != NULL);
	assert_true(str_is(json_get_str(v, "status"), "active"));
	person_free(&ann);
}

static void
test_rebuild(void **state)
{
	struct desk *d = *state;
	struct person ann, bea;
	struct str before;

	person_make(d, 1, &ann);
	person_make(d, 2, &bea);
	person_register(d, &ann, "Ann", "[\"production\"]");
	person_register(d, &bea, "Bea", "[\"action\",\"hold\"]");
	desk_do(d, "approver.revoke",
	    arena_printf(d->a, "{\"uid\":\"%.*s\",\"reason\":\"left\"}",
		STR_ARGS(ann.uid)));
	before = desk_dump(d);
	desk_rebuild(d);
	assert_true(str_eq(before, desk_dump(d)));
	assert_non_null(strstr(before.p, "INSERT INTO approver "));
	person_free(&ann);
	person_free(&bea);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DESK(test_added),
		WITH_DESK(test_refused),
		WITH_DESK(test_a_key_is_registered_once),
		WITH_DESK(test_revoked_in_order),
		WITH_DESK(test_pages),
		WITH_DESK(test_a_name_can_be_erased),
		WITH_DESK(test_rebuild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
