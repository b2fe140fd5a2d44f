#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/response.h"
#include "tests/support/canned_transport.h"

static struct arena *a;
static struct buf scratch;
static struct canned canned;

static int
setup(void **state)
{
	(void)state;
	a = arena_new();
	buf_init(&scratch, 65536);
	canned_init(&canned, NULL, STR(""));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	canned_fini(&canned);
	buf_fini(&scratch);
	arena_free(a);
	return 0;
}

static const char *
send(const struct response *r, bool head)
{
	buf_reset(&canned.reply);
	assert_true(response_send(r, &canned.transport, head, &scratch));
	return arena_cstr(a, buf_str(&canned.reply));
}

static struct response
sample(void)
{
	struct response r = { 0 };
	struct json *v = json_object(a);

	json_put_int(a, v, "n", 1);
	assert_int_equal(0, response_set_json(&r, 200, v, a, NULL));
	return r;
}

static void
test_bytes(void **state)
{
	struct response r = sample();
	static const char head[] =
	    "Status: 200 OK\r\nContent-Type: application/json\r\n"
	    "Content-Length: 7\r\nCache-Control: no-store\r\n"
	    "X-Content-Type-Options: nosniff\r\nX-A: 1\r\n\r\n";

	(void)state;
	response_add(&r, a, "X-A", "%d", 1);
	assert_string_equal(
	    arena_printf(a, "%s{\"n\":1}", head), send(&r, false));
	assert_string_equal(head, send(&r, true));
}

static void
test_no_body(void **state)
{
	struct response r = { .status = 204 };

	(void)state;
	assert_string_equal("Status: 204 No Content\r\n"
			    "Cache-Control: no-store\r\n"
			    "X-Content-Type-Options: nosniff\r\n\r\n",
	    send(&r, false));
}

static void
test_no_header_splits(void **state)
{
	struct response r = { .status = 204 };

	(void)state;
	response_add(&r, a, "X-A", "%s", "1\r\nX-B: 2\n\x7f");
	assert_non_null(strstr(send(&r, false), "\r\nX-A: 1X-B: 2\r\n\r\n"));
}

static void
test_etag(void **state)
{
	struct response r = sample();
	struct str etag;

	(void)state;
	response_set_etag(&r, a, STR("\"other\""));
	assert_int_equal(200, r.status);
	assert_string_equal("ETag", r.headers->name);
	etag = r.headers->value;
	/* printf '{"n":1}' | sha256sum */
	assert_true(str_is(etag,
	    "\"2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd"
	    "\""));
	r = sample();
	response_set_etag(&r, a, etag);
	assert_int_equal(304, r.status);
	assert_null(r.type);
	assert_null(strstr(send(&r, false), "{"));
}

static void
test_file(void **state)
{
	struct response r = { 0 };
	struct str nul = { "a\0b", 3 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(
	    response_set_bytes(&r, 200, "application/x-thing", nul, &e), 0);
	response_add_file_name(&r, a, STR("thing-1.bin"));
	assert_non_null(strstr(send(&r, false),
	    "Content-Type: application/x-thing\r\nContent-Length: 3\r\n"));
	assert_non_null(
	    strstr(send(&r, true), "\r\nContent-Disposition: attachment; "
				   "filename=\"thing-1.bin\"\r\n"));
	nul.n = RESPONSE_BYTES_MAX + 1;
	assert_int_equal(
	    response_set_bytes(&r, 200, "application/x-thing", nul, &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_bytes),
		TEST(test_no_body),
		TEST(test_no_header_splits),
		TEST(test_etag),
		TEST(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
