#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/request.h"
#include "ledger/codec/json.h"
#include "tests/support/canned_transport.h"

static struct arena *a;
static struct canned canned;

static int
setup(void **state)
{
	(void)state;
	a = arena_new();
	canned_init(&canned, NULL, STR(""));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	canned_fini(&canned);
	arena_free(a);
	return 0;
}

/* GET of the target, its query unread. */
static int
get_line(
    const char *target, const char *prefix, struct request *r, struct err *e)
{
	const char **params = arena_array(a, 3, sizeof *params);

	params[0] = arena_printf(a, "REQUEST_METHOD=GET");
	params[1] = arena_printf(a, "REQUEST_URI=%s", target);
	canned.transport.params = params;
	*e = (struct err){ 0 };
	return request_read(r, &canned.transport, str_from(prefix), a, e);
}

static int
get(const char *target, const char *prefix, struct request *r, struct err *e)
{
	return get_line(target, prefix, r, e) || request_read_query(r, a, e)
		   ? -1
		   : 0;
}

static void
test_target(void **state)
{
	struct request r;
	struct err e;

	(void)state;
	assert_int_equal(0, get("/a%2Fb/%63?x=%20y+z&%C3%A9=&w", "", &r, &e));
	assert_true(str_is(r.method, "GET"));
	assert_true(str_is(r.path, "/a%2Fb/%63"));
	assert_true(str_is(r.query, "x=%20y+z&%C3%A9=&w"));
	assert_int_equal(2, r.n_segments);
	assert_true(str_is(r.segments[0], "a/b"));
	assert_true(str_is(r.segments[1], "c"));
	assert_int_equal(3, r.n_params);
	assert_true(str_is(r.params[0].name, "x"));
	assert_true(str_is(r.params[0].value, " y z"));
	assert_true(str_is(r.params[1].name, "\xc3\xa9"));
	assert_true(str_is(r.params[1].value, ""));
	assert_true(str_is(r.params[2].name, "w"));
	assert_int_equal(IN_QUERY, r.params[2].place);
	assert_false(uid_is_none(r.id));
	assert_int_equal(0, get("/a+b/", "", &r, &e));
	assert_true(str_is(r.segments[0], "a+b"));
	assert_int_equal(2, r.n_segments);
	assert_null(r.query.p);
	assert_int_equal(0, get("HTTPS://h.example:8443/a/b?x=1", "", &r, &e));
	assert_true(str_is(r.target, "/a/b?x=1"));
	assert_int_equal(2, r.n_segments);
}

static void
test_hostile_targets(void **state)
{
	static const char *const targets[] = { "", "*", "a/b", "ftp://h/a",
		"http://", "http:///a", "https://h", "http://h/../a",
		"http://h?x=/a", "/a/../b", "/./a", "/a/%2e%2E/b", "/..",
		"/a//b", "//a", "/%00", "/%zz", "/a%2", "/%ff", "/%ed%a0%80",
		"/%c0%af", "/a b", "/a#b", "/a\x7f", "/a?x=%00", "/a?%ff=1",
		"/a?x=%", "/a?x=1&x=2", "/a?x=1&%78=2" };
	struct request r;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
		assert_int_equal(-1, get(targets[i], "", &r, &e));
		assert_ptr_equal(&err_malformed, e.kind);
		assert_false(uid_is_none(r.id));
	}
}

/* What is wrong with a query is no matter of the path's; a parameter of the
 * path is none of the query's. */
static void
test_query_by_itself(void **state)
{
	static const char *const targets[] = { "/a?x=1&x=2", "/a?x=%ff" };
	const struct route_match match = {
		.params = { { STR("x"), STR("1"), IN_PATH } }, .n_params = 1
	};
	struct request r;
	struct err e;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(0, get_line(targets[i], "", &r, &e));
		assert_int_equal(0, r.n_params);
		assert_int_equal(-1, request_read_query(&r, a, &e));
		assert_ptr_equal(&err_malformed, e.kind);
	}
	assert_int_equal(0, get_line("/a?x=2", "", &r, &e));
	request_add_params(&r, &match);
	assert_int_equal(0, request_read_query(&r, a, &e));
	assert_int_equal(2, r.n_params);
	assert_int_equal(IN_QUERY, r.params[1].place);
}

static void
test_prefix(void **state)
{
	struct request r;
	struct err e;

	(void)state;
	assert_int_equal(0, get("/p/q/a", "/p/q", &r, &e));
	assert_int_equal(1, r.n_segments);
	assert_true(str_is(r.segments[0], "a"));
	assert_int_equal(-1, get("/p/qa", "/p/q", &r, &e));
	assert_ptr_equal(&err_not_found, e.kind);
	assert_int_equal(-1, get("/a", "/p/q", &r, &e));
	assert_ptr_equal(&err_not_found, e.kind);
}

/* The name of a well-known document comes before the prefix. */
static void
test_prefix_of_well_known(void **state)
{
	struct request r;
	struct err e;

	(void)state;
	assert_int_equal(
	    0, get("/.well-known/name/p/q/api/v2", "/p/q", &r, &e));
	assert_int_equal(4, r.n_segments);
	assert_true(str_is(r.segments[0], ".well-known"));
	assert_true(str_is(r.segments[1], "name"));
	assert_true(str_is(r.segments[3], "v2"));
	assert_int_equal(0, get("/.well-known/name/api", "", &r, &e));
	assert_int_equal(3, r.n_segments);
	assert_int_equal(
	    -1, get("/.well-known/name/p/qapi/v2", "/p/q", &r, &e));
	assert_int_equal(-1, get("/.well-known/name/api", "/p/q", &r, &e));
	assert_ptr_equal(&err_not_found, e.kind);
	assert_int_equal(-1, get("/.well-known", "/p/q", &r, &e));
	assert_ptr_equal(&err_not_found, e.kind);
}

static void
test_long_targets(void **state)
{
	char text[TARGET_BYTES_MAX + 2];
	struct request r;
	struct err e;
	struct buf many;

	(void)state;
	memset(text, 'a', sizeof text);
	text[0] = '/';
	text[TARGET_BYTES_MAX + 1] = '\0';
	assert_int_equal(-1, get(text, "", &r, &e));
	assert_ptr_equal(&err_uri_too_long, e.kind);
	text[TARGET_BYTES_MAX] = '\0';
	assert_int_equal(0, get(text, "", &r, &e));

	buf_init(&many, 4096);
	buf_add_cstr(&many, "/a?");
	for (int i = 0; i < QUERY_PARAMS_MAX; i++)
		buf_addf(&many, "x%d=1&", i);
	assert_int_equal(0, get(arena_cstr(a, buf_str(&many)), "", &r, &e));
	assert_int_equal(QUERY_PARAMS_MAX, r.n_params);
	buf_add_cstr(&many, "y=1");
	assert_int_equal(-1, get(arena_cstr(a, buf_str(&many)), "", &r, &e));
	assert_ptr_equal(&err_malformed, e.kind);
	buf_reset(&many);
	for (int i = 0; i <= ROUTE_SEGMENTS_MAX; i++)
		buf_add_cstr(&many, "/a");
	assert_int_equal(-1, get(arena_cstr(a, buf_str(&many)), "", &r, &e));
	assert_ptr_equal(&err_not_found, e.kind);
	buf_fini(&many);
}

static void
test_methods(void **state)
{
	static const char *const bad[] = { "REQUEST_METHOD=",
		"REQUEST_METHOD=get", "REQUEST_METHOD=GE T",
		"REQUEST_METHODS=GET",
		"REQUEST_METHOD=ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const char *const params[] = { bad[i], "REQUEST_URI=/a", NULL };
		struct request r;
		struct err e = { 0 };

		canned.transport.params = params;
		assert_int_equal(
		    -1, request_read(&r, &canned.transport, STR(""), a, &e));
		assert_ptr_equal(&err_malformed, e.kind);
	}
}

/* What became of a POST with this body. */
static const struct err_kind *
post(const char *length, const char *type, const char *body, size_t max,
    struct request *r)
{
	const char *const params[] = { "REQUEST_METHOD=POST", "REQUEST_URI=/a",
		length ? length : type, length ? type : NULL, NULL };
	struct err e = { 0 };
	struct json *v;

	canned.transport.params = params;
	canned.body = str_from(body);
	canned.piece = 3;
	assert_int_equal(0, request_read(r, &canned.transport, STR(""), a, &e));
	if (request_read_body(r, max, a, &e) == 0 &&
	    request_parse_body(r, max, a, &v, &e) == 0)
		assert_int_equal(JSON_OBJECT, v->type);
	request_drain(r);
	if (!r->gone)
		assert_int_equal(0, canned.body.n);
	return e.kind;
}

#define JSON_TYPE "CONTENT_TYPE=application/json"

static void
test_body(void **state)
{
	struct request r;

	(void)state;
	assert_null(post("CONTENT_LENGTH=9", JSON_TYPE, "{\"a\":1.0}", 9, &r));
	assert_true(str_is(r.body, "{\"a\":1.0}"));
	/* Chunked: Apache tells no length. */
	assert_null(post(NULL, JSON_TYPE, "{\"a\":1.0}", 9, &r));
	assert_null(
	    post("CONTENT_LENGTH=0009", JSON_TYPE, "{\"a\":1.0}", 9, &r));
	assert_ptr_equal(&err_too_large,
	    post("CONTENT_LENGTH=9", JSON_TYPE, "{\"a\":1.0}", 8, &r));
	assert_ptr_equal(
	    &err_too_large, post(NULL, JSON_TYPE, "{\"a\":1.0}", 8, &r));
	assert_ptr_equal(
	    &err_too_large, post("CONTENT_LENGTH=99999999999999999999999",
				JSON_TYPE, "{}", 8, &r));
}

static void
test_faulty_bodies(void **state)
{
	static const char *const lengths[] = { "CONTENT_LENGTH=3",
		"CONTENT_LENGTH=1", "CONTENT_LENGTH=x", "CONTENT_LENGTH=-2",
		"CONTENT_LENGTH=+2", "CONTENT_LENGTH=2.0",
		"CONTENT_LENGTH=0x2" };
	static const char *const bodies[] = { "", "[]", "1", "null", "{", "{}x",
		"{\"a\":1,\"a\":2}", "\xff", "\"a\"" };
	struct request r;

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		assert_ptr_equal(
		    &err_malformed, post(lengths[i], JSON_TYPE, "{}", 99, &r));
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
		assert_ptr_equal(
		    &err_malformed, post(NULL, JSON_TYPE, bodies[i], 99, &r));
	assert_ptr_equal(&err_media_type,
	    post(NULL, "CONTENT_TYPE=text/plain", "{}", 99, &r));
	assert_ptr_equal(&err_media_type, post(NULL, NULL, "{}", 99, &r));
}

static void
test_client_that_goes_away(void **state)
{
	struct request r;

	(void)state;
	canned.aborts = true;
	assert_ptr_equal(&err_malformed,
	    post("CONTENT_LENGTH=9", JSON_TYPE, "{\"a\":", 99, &r));
	assert_true(r.gone);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_target),
		TEST(test_hostile_targets),
		TEST(test_query_by_itself),
		TEST(test_prefix),
		TEST(test_prefix_of_well_known),
		TEST(test_long_targets),
		TEST(test_methods),
		TEST(test_body),
		TEST(test_faulty_bodies),
		TEST(test_client_that_goes_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
