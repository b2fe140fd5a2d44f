#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/codec/json_walk.h"

/* A text that is given a few bytes at a time. */
struct source {
	struct str rest;
	size_t step;
	bool fails; /* at the end */
};

static int
read_source(void *arg, char *to, size_t room, size_t *n, struct err *e)
{
	struct source *s = arg;

	*n = s->rest.n < s->step ? s->rest.n : s->step;
	*n = *n < room ? *n : room;
	if (*n == 0 && s->fails)
		return err_set(e, &err_unavailable, "the disk is gone");
	memcpy(to, s->rest.p, *n);
	s->rest = str_slice(s->rest, *n, s->rest.n);
	return 0;
}

/* Writes what is walked through as text: what a reader has seen. */
static int
copy(struct json_walk *w, struct arena *a, enum json_type type, int depth,
    struct buf *out, struct err *e)
{
	struct str name;
	struct json *v;
	int more;

	if (json_walk_open(w, type, e))
		return -1;
	buf_add_byte(out, type == JSON_OBJECT ? '{' : '[');
	while ((more = json_walk_next(w, &name, e)) > 0) {
		if (name.p)
			buf_addf(out, "%.*s:", STR_ARGS(name));
		if (str_is(name, "in") && depth < 20) {
			if (copy(w, a, JSON_ARRAY, depth + 1, out, e))
				return -1;
		} else if (str_is(name, "skip")) {
			if (json_walk_skip(w, NULL, e))
				return -1;
		} else {
			if (json_walk_value(w, a, 100, &v, e))
				return -1;
			json_write(v, out);
		}
		buf_add_byte(out, ';');
	}
	buf_add_byte(out, '.');
	return more;
}

static int
walk(const char *text, bool canonical, size_t step, struct buf *out,
    struct err *e)
{
	struct source s = { str_from(text), step, false };
	struct json_walk *w = json_walk_new(read_source, &s, 0, canonical);
	struct arena *a = arena_new();
	int rc = copy(w, a, JSON_OBJECT, 0, out, e);

	if (rc == 0)
		rc = json_walk_end(w, e);
	if (rc == 0)
		assert_int_equal(json_walk_at(w), strlen(text));
	arena_free(a);
	json_walk_free(w);
	return rc;
}

static void
expect(const char *text, bool canonical, const char *wanted)
{
	for (size_t step = 1; step < 9; step += 3) {
		struct err e = { 0 };
		struct buf out;

		buf_init(&out, 10000);
		if (walk(text, canonical, step, &out, &e))
			fail_msg("%s: %s", text, e.detail);
		if (!str_is(buf_str(&out), wanted))
			fail_msg("%s: %.*s", text, STR_ARGS(buf_str(&out)));
		buf_fini(&out);
	}
}

static void
expect_refused(const char *text, bool canonical, const struct err_kind *kind,
    const char *why)
{
	for (size_t step = 1; step < 9; step += 3) {
		struct err e = { 0 };
		struct buf out;

		buf_init(&out, 10000);
		if (walk(text, canonical, step, &out, &e) == 0)
			fail_msg("accepted: %s", text);
		if (e.kind != kind || !strstr(e.detail, why))
			fail_msg("%s: %s", text, e.detail);
		buf_fini(&out);
	}
}

static void
test_walks(void **state)
{
	(void)state;
	expect("{}", true, "{.");
	expect("{\"a\":1,\"b\":[1,\"]}\\\"\"],\"c\":null}", true,
	    "{a:1;b:[1,\"]}\\\"\"];c:null;.");
	expect("{\"in\":[],\"z\":\"\"}", true, "{in:[.;z:\"\";.");
	expect("{\"in\":[true,{\"a\":{}}],\"skip\":[{\"x\":\"]\"}]}", true,
	    "{in:[true;{\"a\":{}};.;skip:;.");
	expect(" { \"b\" : 1.50 ,\n\t\"a\":[ ] , \"b\":-0 } \n", false,
	    "{b:1.50;a:[];b:-0;.");
	expect("{\"\\u0061\":\"\\u0062\"}", false, "{a:\"b\";.");
}

static void
test_malformed(void **state)
{
	static const char *const bad[] = { "", "[]", "1", "{", "{\"a\"",
		"{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}",
		"{\"a\" 1}", "{\"a\"}", "{a:1}", "{\"a\":}", "{\"a\":01}",
		"{\"a\":tru}", "{\"a\":1 2}", "{\"a\":[1,]}", "{\"a\":[1}}",
		"{\"a\":{]}", "{\"a\":\"\\x\"}", "{\"a\":\"\n\"}",
		"{\"a\":\"\\ud800\"}", "{\"a\":\"\xff\"}", "{\"a\":1}}",
		"{\"a\":1}{", "{\"in\":[1,]}", "{\"in\":1}", "{\"a\":\"b",
		"{\"a\":1\"b\":2}", "{\"in\":[1 2]}", "{\"skip\":}",
		"{\"skip\":[", "{\"a\":{\"b\":1,\"b\":1}}", "{1:2}" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		expect_refused(bad[i], true, &err_malformed, "byte");
		expect_refused(bad[i], false, &err_malformed, "byte");
	}
}

static void
test_not_canonical(void **state)
{
	static const char *const bad[] = { " {}", "{ }", "{} ", "{\"a\": 1}",
		"{\"a\" :1}", "{\"a\":1 }", "{\"a\":1.0}", "{\"a\":-0}",
		"{\"a\":\"\\u0041\"}", "{\"a\":\"\\/\"}", "{\"b\":1,\"a\":2}",
		"{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"a\":1}}",
		"{\"\\u0061\":1}", "{\"in\":[1, 2]}", "{\"in\":[ ]}",
		"{\"\xef\xbf\xbf\":1,\"\xf0\x90\x80\x80\":1}" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err e = { 0 };
		struct buf out;

		expect_refused(bad[i], true, &err_malformed, "byte");
		buf_init(&out, 10000);
		if (walk(bad[i], false, 2, &out, &e) != 0)
			fail_msg("%s: %s", bad[i], e.detail);
		buf_fini(&out);
	}
	/* By UTF-16 units, as RFC 8785 has it. */
	expect("{\"\xf0\x90\x80\x80\":1,\"\xef\xbf\xbf\":1}", true,
	    "{\xf0\x90\x80\x80:1;\xef\xbf\xbf:1;.");
}

static void
test_limits(void **state)
{
	char text[3000] = "{\"a\":[";
	struct source s = { STR("{\"a\""), 2, true };
	struct json_walk *w = json_walk_new(read_source, &s, 0, true);
	struct err e = { 0 };
	struct str name;

	(void)state;
	for (int i = 0; i < 49; i++)
		strcat(text, "1,");
	strcat(text, "12]}");
	expect_refused(text, true, &err_too_large, "more than 100 bytes");
	memset(text, '"', 2);
	memset(text + 2, 'x', 1200);
	memcpy(text, "{\"", 2);
	memcpy(text + 1202, "\":1}", 5);
	expect_refused(text, false, &err_too_large, "more than 1024 bytes");
	assert_int_equal(json_walk_open(w, JSON_OBJECT, &e), 0);
	assert_int_equal(json_walk_next(w, &name, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	json_walk_free(w);
}

static void
test_depth(void **state)
{
	char text[] = "[[[[[[[[[[[[[[[[[";
	struct source s = { str_from(text), 3, false };
	struct json_walk *w = json_walk_new(read_source, &s, 0, true);
	struct err e = { 0 };
	struct str name;

	(void)state;
	for (int i = 0; i < 16; i++) {
		assert_int_equal(json_walk_open(w, JSON_ARRAY, &e), 0);
		assert_int_equal(json_walk_next(w, &name, &e), 1);
	}
	assert_int_equal(json_walk_open(w, JSON_ARRAY, &e), -1);
	assert_string_equal(e.detail, "nested too deeply at byte 16");
	json_walk_free(w);
}

static int
add_piece(void *arg, struct str s, struct err *e)
{
	(void)e;
	buf_add(arg, s);
	return 0;
}

static int
read_string(const char *text, size_t step, struct buf *out, struct err *e)
{
	struct source s = { str_from(text), step, false };
	struct json_walk *w = json_walk_new(read_source, &s, 0, false);
	int rc = json_walk_string(w, add_piece, out, e);

	if (rc == 0)
		rc = json_walk_end(w, e);
	json_walk_free(w);
	return rc;
}

static void
test_string(void **state)
{
	static const char *const bad[] = { "", "1", "\"", "\"abc", "\"a\\n\"",
		"\"a\nb\"", "\"a\"\"", "[]" };
	struct err e = { 0 };
	struct buf out;

	(void)state;
	buf_init(&out, 100);
	for (size_t step = 1; step < 9; step++) {
		buf_reset(&out);
		assert_int_equal(
		    read_string("\"abcdefghi\"", step, &out, NULL), 0);
		assert_true(str_is(buf_str(&out), "abcdefghi"));
		for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
			err_clear(&e);
			assert_int_equal(
			    read_string(bad[i], step, &out, &e), -1);
			assert_ptr_equal(e.kind, &err_malformed);
		}
	}
	assert_int_equal(read_string(" \"\" ", 1, &out, NULL), 0);
	buf_fini(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_not_canonical),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
