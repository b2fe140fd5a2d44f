#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/headers.h"

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

#define PARAMS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static struct headers
read_fine(const char *const *params)
{
	struct headers h;
	struct err e = { 0 };

	assert_int_equal(0, headers_read(params, a, &h, &e));
	return h;
}

static struct err
read_refused(const char *const *params)
{
	struct headers h;
	struct err e = { 0 };

	assert_int_equal(-1, headers_read(params, a, &h, &e));
	return e;
}

static void
assert_header(const struct headers *h, const char *name, const char *value)
{
	assert_true(str_is(headers_get(h, name), value));
}

static void
test_names_and_values(void **state)
{
	struct headers h = read_fine(PARAMS("HTTP_IF_NONE_MATCH= \t\"x\" ",
	    "CONTENT_TYPE=application/json",
	    "CONTENT_LENGTH=", "SERVER_NAME=here", "HTTP_EMPTY=", "HTTP_=x"));

	(void)state;
	assert_header(&h, "if-none-match", "\"x\"");
	assert_header(&h, "content-type", "application/json");
	assert_header(&h, "empty", "");
	assert_null(headers_get(&h, "content-length").p);
	assert_null(headers_get(&h, "server-name").p);
	assert_null(headers_get(&h, "").p);
	assert_int_equal(3, h.n);
}

static void
test_repeats_are_joined(void **state)
{
	struct headers h =
	    read_fine(PARAMS("HTTP_ACCEPT=a/b", "HTTP_X=1", "HTTP_ACCEPT=c/d"));

	(void)state;
	assert_header(&h, "accept", "a/b, c/d");
	assert_int_equal(2, h.n);
}

static void
test_repeats_are_refused(void **state)
{
	static const struct {
		const char *first, *second;
		const char *title;
	} cases[] = {
		{ "HTTP_AUTHORIZATION=Bearer a", "HTTP_AUTHORIZATION=Bearer a",
		    "Authorization" },
		{ "HTTP_SIGNATURE=a", "HTTP_SIGNATURE=b", "Signature" },
		{ "HTTP_SIGNATURE_INPUT=a", "HTTP_SIGNATURE_INPUT=b",
		    "Signature-Input" },
		{ "HTTP_CONTENT_DIGEST=a", "HTTP_CONTENT_DIGEST=b",
		    "Content-Digest" },
		{ "HTTP_IDEMPOTENCY_KEY=a", "HTTP_IDEMPOTENCY_KEY=a",
		    "Idempotency-Key" },
		{ "HTTP_HOST=a", "HTTP_HOST=b", "Host" },
		{ "CONTENT_TYPE=a/b", "CONTENT_TYPE=a/b", "Content-Type" },
		{ "CONTENT_TYPE=a/b", "HTTP_CONTENT_TYPE=c/d", "Content-Type" },
		{ "CONTENT_LENGTH=1", "CONTENT_LENGTH=1", "Content-Length" },
		{ "CONTENT_LENGTH=1", "HTTP_CONTENT_LENGTH=2",
		    "Content-Length" },
		{ "HTTP_HOST=a, b", "HTTP_X=y", "Host" },
		{ "CONTENT_LENGTH=1, 1", "HTTP_X=y", "Content-Length" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct err e =
		    read_refused(PARAMS(cases[i].first, cases[i].second));

		assert_ptr_equal(&err_malformed, e.kind);
		assert_non_null(e.fields);
		assert_string_equal("header", e.fields->place);
		assert_string_equal(cases[i].title, e.fields->at);
		assert_string_equal("repeated", e.fields->code);
	}
}

/* nginx says both twice, by either name. */
static void
test_the_same_by_both_names(void **state)
{
	struct headers h =
	    read_fine(PARAMS("CONTENT_TYPE=a/b", "CONTENT_LENGTH=5",
		"HTTP_CONTENT_TYPE=a/b", "HTTP_CONTENT_LENGTH=5"));

	(void)state;
	assert_header(&h, "content-type", "a/b");
	assert_header(&h, "content-length", "5");
}

static void
test_characters(void **state)
{
	struct err e = read_refused(PARAMS("HTTP_X=a\rb"));
	struct headers h;

	(void)state;
	assert_ptr_equal(&err_malformed, e.kind);
	e = read_refused(PARAMS("HTTP_X=\x7f"));
	assert_ptr_equal(&err_malformed, e.kind);
	h = read_fine(PARAMS("HTTP_X=a\tb\xc3\xa9"));
	assert_header(&h, "x", "a\tb\xc3\xa9");
}

static char *
param_of_length(size_t n)
{
	char *p = arena_alloc(a, n + 1);

	memset(p, 'x', n);
	memcpy(p, "HTTP_X=", 7);
	return p;
}

static void
test_limits(void **state)
{
	char *large = param_of_length(HEADER_BYTES_MAX);
	char *larger = param_of_length(HEADER_BYTES_MAX + 1);
	const char *many[HEADERS_MAX + 2] = { 0 };

	(void)state;
	read_fine(PARAMS(large, large, large, large));
	assert_ptr_equal(&err_headers_too_large,
	    read_refused(PARAMS(large, large, large, large, "HTTP_Y=")).kind);
	assert_ptr_equal(
	    &err_headers_too_large, read_refused(PARAMS(larger)).kind);
	for (size_t i = 0; i < HEADERS_MAX; i++)
		many[i] = arena_printf(a, "HTTP_X%zu=", i);
	read_fine(many);
	many[HEADERS_MAX] = arena_printf(a, "HTTP_Y=");
	assert_ptr_equal(&err_headers_too_large, read_refused(many).kind);
}

static void
test_bearer(void **state)
{
	static const struct {
		const char *param;
		const char *token;
	} cases[] = {
		{ "HTTP_AUTHORIZATION=Bearer pby_test_x", "pby_test_x" },
		{ "HTTP_AUTHORIZATION=bEARER  a-._~+/0==", "a-._~+/0==" },
		{ "HTTP_AUTHORIZATION=Bearer", NULL },
		{ "HTTP_AUTHORIZATION=Bearer ", NULL },
		{ "HTTP_AUTHORIZATION=", NULL },
		{ "HTTP_AUTHORIZATION=Bearer a, Bearer b", NULL },
		{ "HTTP_AUTHORIZATION=Bearer a b", NULL },
		{ "HTTP_AUTHORIZATION=Bearer a=b", NULL },
		{ "HTTP_AUTHORIZATION=Bearer\xc3\xa9 a", NULL },
		{ "HTTP_AUTHORIZATION=Basic YTpi", NULL },
		{ "HTTP_AUTHORIZATION=BearerX a", NULL },
		{ "HTTP_X=y", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct headers h = read_fine(PARAMS(cases[i].param));
		struct str token;
		struct err e = { 0 };
		int rc = header_bearer(&h, &token, &e);

		assert_int_equal(cases[i].token ? 0 : -1, rc);
		if (rc == 0)
			assert_true(str_is(token, cases[i].token));
		else
			assert_ptr_equal(&err_unauthorized, e.kind);
	}
}

static void
test_password(void **state)
{
	static const struct {
		const char *param;
		const char *token;
	} cases[] = {
		{ "HTTP_AUTHORIZATION=Bearer pby_x", "pby_x" },
		{ "HTTP_AUTHORIZATION=Basic YTpwYnlfeA==", "pby_x" },
		{ "HTTP_AUTHORIZATION=bASIC  OnBieV94", "pby_x" },
		{ "HTTP_AUTHORIZATION=Basic YWJj", NULL },     /* abc */
		{ "HTTP_AUTHORIZATION=Basic YTo=", NULL },     /* a: */
		{ "HTTP_AUTHORIZATION=Basic YTpiOmM=", NULL }, /* a:b:c */
		{ "HTTP_AUTHORIZATION=Basic YTpiIGM=", NULL }, /* a:b c */
		{ "HTTP_AUTHORIZATION=Basic YTpwYnlfeA", NULL },
		{ "HTTP_AUTHORIZATION=Basic", NULL },
		{ "HTTP_AUTHORIZATION=Digest YTpwYnlfeA==", NULL },
		{ "HTTP_X=y", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct headers h = read_fine(PARAMS(cases[i].param));
		struct str token;
		struct err e = { 0 };
		int rc = header_password(&h, a, &token, &e);

		assert_int_equal(cases[i].token ? 0 : -1, rc);
		if (rc == 0)
			assert_true(str_is(token, cases[i].token));
		else
			assert_ptr_equal(&err_unauthorized, e.kind);
	}
}

static int
key_of(const char *text, struct str *key, struct err *e)
{
	struct headers h =
	    read_fine(PARAMS(arena_printf(a, "HTTP_IDEMPOTENCY_KEY=%s", text)));

	*e = (struct err){ 0 };
	return header_idempotency_key(&h, a, key, e);
}

static void
test_idempotency_key(void **state)
{
	static const char *const bad[] = { "", "\"\"", "\"a", "a\"", "\"a\"b",
		"\"a\", \"b\"", "a, b", "a,b", "\"a\\\"", "\"a\\b\"",
		"caf\xc3\xa9", "a\tb" };
	char long_key[257];
	struct headers none = read_fine(PARAMS("HTTP_X=y"));
	struct str key;
	struct err e;

	(void)state;
	assert_int_equal(0, key_of("a-1", &key, &e));
	assert_true(str_is(key, "a-1"));
	assert_int_equal(0, key_of("\"a-1\"", &key, &e));
	assert_true(str_is(key, "a-1"));
	assert_int_equal(0, key_of("\"a\\\"\\\\, b\"", &key, &e));
	assert_true(str_is(key, "a\"\\, b"));
	assert_int_equal(0, header_idempotency_key(&none, a, &key, &e));
	assert_null(key.p);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(-1, key_of(bad[i], &key, &e));
		assert_ptr_equal(&err_malformed, e.kind);
		assert_string_equal("Idempotency-Key", e.fields->at);
	}
	memset(long_key, 'k', 256);
	long_key[256] = '\0';
	assert_int_equal(-1, key_of(long_key, &key, &e));
	long_key[255] = '\0';
	assert_int_equal(0, key_of(long_key, &key, &e));
	assert_int_equal(255, key.n);
}

static void
test_media_type(void **state)
{
	static const char *const good[] = { "application/json",
		"Application/JSON", "application/json; charset=utf-8",
		"application/json;charset=\"UTF-8\"", "application/json;",
		"application/json; profile=x; charset=utf-8" };
	static const char *const bad[] = { "", "text/json", "application/jsonx",
		"application/json, application/json",
		"application/json;charset", "application/json; charset=latin1",
		"application/json; =x", "application/json; charset=",
		"application/x-www-form-urlencoded",
		"application/problem+json" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(media_type_is_json(str_from(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(media_type_is_json(str_from(bad[i])));
}

static void
test_etag(void **state)
{
	struct str etag = STR("\"ab\"");

	(void)state;
	assert_true(header_etag_matches(STR("\"ab\""), etag));
	assert_true(header_etag_matches(STR("*"), etag));
	assert_true(header_etag_matches(STR("\"x\", W/\"ab\" "), etag));
	assert_false(header_etag_matches(STR("\"x\", \"abc\""), etag));
	assert_false(header_etag_matches(STR("ab"), etag));
	assert_false(header_etag_matches(STR(""), etag));
	assert_false(header_etag_matches(STR(", ,"), etag));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    test_names_and_values, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_repeats_are_joined, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_repeats_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_the_same_by_both_names, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_characters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bearer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_password, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_idempotency_key, setup, teardown),
		cmocka_unit_test(test_media_type),
		cmocka_unit_test(test_etag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
