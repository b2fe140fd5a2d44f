#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "domain/service.h"
#include "fcgi/problem.h"
#include "fcgi/request.h"
#include "ledger/base/io.h"

static struct arena *a;

static int
setup(void **state)
{
	(void)state;
	a = arena_new();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static struct json *
reply(const struct err *e, struct response *r)
{
	struct uid id;
	struct json *v;

	assert_true(
	    uid_parse(STR("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"), &id));
	*r = (struct response){ 0 };
	problem_reply(e, STR("https://h.example"), id, a, r);
	assert_string_equal("application/problem+json", r->type);
	assert_int_equal(
	    0, json_parse(a, r->body, &json_limits_default, &v, NULL));
	return v;
}

static void
test_members(void **state)
{
	struct err e = { 0 };
	struct response r;
	struct json *v;

	(void)state;
	err_add_field(&e, a, "pointer", "#/amount", "minimum", "must be %d", 1);
	err_add_field(&e, a, "header", "Host", "repeated", "twice");
	v = reply(&e, &r);
	assert_int_equal(422, r.status);
	assert_true(str_is(r.body,
	    "{\"type\":\"https://h.example/problems/validation-failed\","
	    "\"title\":\"The request is not valid\",\"status\":422,"
	    "\"detail\":\"#/amount: must be 1\","
	    "\"instance\":\"urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f\","
	    "\"code\":\"validation_failed\",\"errors\":["
	    "{\"pointer\":\"#/amount\",\"detail\":\"must be 1\","
	    "\"code\":\"minimum\"},"
	    "{\"header\":\"Host\",\"detail\":\"twice\","
	    "\"code\":\"repeated\"}]}"));
	assert_int_equal(2, json_get(v, "errors")->n);
	assert_null(r.headers);
}

static void
test_registered_types(void **state)
{
	struct err e = { 0 };
	struct response r;
	struct json *v;

	(void)state;
	err_set(&e, &err_capacity, "all are in use");
	v = reply(&e, &r);
	assert_int_equal(503, r.status);
	assert_true(str_is(json_get_str(v, "type"),
	    "https://iana.org/assignments/http-problem-types"
	    "#temporary-reduced-capacity"));
	assert_true(str_is(json_get_str(v, "code"), "reduced_capacity"));
	assert_string_equal(r.headers->name, "Retry-After");
}

static void
test_extension_changes_nothing_standard(void **state)
{
	struct err e = { 0 };
	struct json *more = json_object(a), *v;
	struct response r;

	(void)state;
	json_put_int(a, more, "status", 200);
	json_put_str(a, more, "seq", STR("7"));
	e.extension = more;
	err_set(&e, &err_control, "no");
	v = reply(&e, &r);
	assert_true(str_is(json_get_str(v, "seq"), "7"));
	assert_true(str_is(json_get(v, "status")->text, "422"));
	assert_int_equal(7, v->n);
}

static void
test_internal_errors_tell_nothing(void **state)
{
	static const struct err_kind *const kinds[] = { &err_internal,
		&err_unavailable, &err_corrupt, &err_view_damaged,
		&err_rolled_back, &err_no_space };

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct err e = { 0 };
		struct response r;

		err_set(&e, kinds[i], "/secret/path: no such file");
		reply(&e, &r);
		assert_null(strstr(arena_cstr(a, r.body), "secret"));
	}
}

static void
test_retry_after(void **state)
{
	struct err e = { 0 };
	struct response r;

	(void)state;
	err_set(&e, &err_unavailable, "busy");
	reply(&e, &r);
	assert_string_equal("Retry-After", r.headers->name);
	assert_true(str_is(r.headers->value, "5"));
	e.retry_after_s = 30;
	reply(&e, &r);
	assert_true(str_is(r.headers->value, "30"));
	/* Until an operator acts, trying again is of no use. */
	e = (struct err){ 0 };
	err_set(&e, &err_rolled_back, "behind");
	reply(&e, &r);
	assert_null(r.headers);
}

/* What the type of a problem leads to. */
static void
test_pages(void **state)
{
	size_t n;
	const struct err_kind **kinds = problem_kinds(a, &n);

	(void)state;
	assert_true(n > 20);
	for (size_t i = 0; i < n; i++) {
		const char *page;

		assert_true(kinds[i]->status >= 400 && kinds[i]->status < 600);
		assert_ptr_equal(
		    kinds[i], problem_kind_find(a, str_from(kinds[i]->slug)));
		page = arena_cstr(a, problem_page(a, kinds[i]));
		assert_non_null(strstr(page, kinds[i]->title));
		assert_non_null(strstr(page, kinds[i]->remedy));
		/* Two kinds of one name would share a page. */
		if (i > 0)
			assert_true(
			    strcmp(kinds[i - 1]->slug, kinds[i]->slug) < 0);
	}
	assert_non_null(problem_kind_find(a, STR("uri-too-long")));
	assert_null(problem_kind_find(a, STR("nothing")));
	assert_null(problem_kind_find(a, STR("usage")));
}

/* The programs run in the project's root, and so do the tests. */
static void
test_reference_is_up_to_date(void **state)
{
	struct buf fresh;
	struct str there;
	struct err e = { 0 };

	(void)state;
	buf_init(&fresh, 1u << 20);
	problem_reference(a, &fresh);
	assert_false(buf_failed(&fresh));
	assert_int_equal(
	    0, io_read_file(a, "docs/problems.md", 1u << 20, &there, &e));
	assert_true(str_eq(there, buf_str(&fresh)));
	buf_fini(&fresh);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_members),
		TEST(test_registered_types),
		TEST(test_extension_changes_nothing_standard),
		TEST(test_internal_errors_tell_nothing),
		TEST(test_retry_after),
		TEST(test_pages),
		TEST(test_reference_is_up_to_date),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
