#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/codec/json.h"

static struct arena *arena;

static int
setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

/* Parses a copy that is overwritten afterwards: nothing may borrow from it. */
static struct json *
parse(struct str text, struct err *e)
{
	struct json *v = NULL;
	char *copy = arena_cstr(arena, text);

	if (json_parse(arena, (struct str){ copy, text.n },
		&json_limits_default, &v, e))
		return NULL;
	memset(copy, '?', text.n);
	return v;
}

static struct str
written(const struct json *v, bool pretty)
{
	struct str out;
	struct buf b;

	buf_init(&b, 1 << 20);
	if (pretty)
		json_write_pretty(v, &b);
	else
		json_write(v, &b);
	assert_false(buf_failed(&b));
	out = arena_str(arena, buf_str(&b));
	buf_fini(&b);
	return out;
}

static void
expect_same(const char *text)
{
	struct err e = { 0 };
	struct json *v = parse(str_from(text), &e);

	if (!v)
		fail_msg("%s: %s", text, e.detail);
	assert_string_equal(written(v, false).p, text);
}

static void
test_round_trip(void **state)
{
	(void)state;
	expect_same("null");
	expect_same("123");
	expect_same("\"\"");
	expect_same("[]");
	expect_same("{}");
	expect_same("{\"z\":-1.50e+3,\"a\":[true,false,null,{\"\":[]}]}");
	expect_same("[1e400,-0,0.10,123456789012345678901234567890]");
	expect_same("\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\x7f\"");
	expect_same("\"\xc3\xa9\xf0\x9f\x98\x80 \\n long enough \\u000b\"");
}

static void
test_strings(void **state)
{
	struct err e = { 0 };
	struct json *v =
	    parse(STR("[\"a\\u0000b\",\"\\ud83d\\ude00\",\"\\/\\u00e9\"]"), &e);

	(void)state;
	assert_non_null(v);
	assert_int_equal(v->n, 3);
	assert_true(str_eq(v->first->text, STR("a\0b")));
	assert_true(str_is(v->first->next->text, "\xf0\x9f\x98\x80"));
	assert_true(str_is(v->last->text, "/\xc3\xa9"));
	assert_string_equal(written(v, false).p,
	    "[\"a\\u0000b\",\"\xf0\x9f\x98\x80\",\"/\xc3\xa9\"]");
}

static void
test_refusals(void **state)
{
	static const char *const bad[][2] = { { "", "byte 0" }, { "  ", "" },
		{ "1 2", "" }, { "{}x", "" }, { "[1,]", "" },
		{ "{\"a\":1,}", "" }, { "{a:1}", "" }, { "'a'", "" },
		{ "01", "" }, { "+1", "" }, { ".5", "" }, { "1.", "" },
		{ "1e", "" }, { "-", "" }, { "NaN", "" }, { "Infinity", "" },
		{ "nul", "" }, { "True", "" }, { "[", "" }, { "]", "" },
		{ "{\"a\"}", "" }, { "{\"a\":}", "" }, { "[1 2]", "" },
		{ "\"", "" }, { "\"\\\"", "" }, { "\"\\x41\"", "" },
		{ "\"\\u12\"", "" }, { "\"\\u12g4\"", "" }, { "\\", "" },
		{ "\"\n\"", "" }, { "// x\n1", "" }, { "/* x */1", "" },
		{ "\f1", "control character at byte 0" },
		{ "[1,\v2]", "control character at byte 3" },
		{ "\"\x01\"", "control character at byte 1" },
		{ "\xef\xbb\xbf[]", "" },
		{ "\"\\ud800\"", "lone surrogate at byte 1" },
		{ "\"\\udc00\"", "lone surrogate" },
		{ "\"12345678\\uD83D\"", "lone surrogate at byte 9" },
		{ "\"\\ud83d\\ud83d\"", "lone surrogate" },
		{ "\"\\ud83dx\\ude00\"", "lone surrogate" },
		{ "\"\\\\\\udc00\"", "lone surrogate at byte 3" },
		{ "\"\xed\xa0\x80\"", "not UTF-8 at byte 1" },
		{ "\"\xc0\xaf\"", "not UTF-8" }, { "\"abc\xff\"", "byte 4" },
		{ "\"\xf4\x90\x80\x80\"", "not UTF-8" },
		{ "{\"a\":1,\"b\":2,\"a\":3}", "duplicate" },
		{ "[{\"\":1,\"\":1}]", "duplicate" },
		{ "{\"a\":1,\"\\u0061\":1}", "duplicate" } };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err e = { 0 };

		if (parse(str_from(bad[i][0]), &e))
			fail_msg("%s passed", bad[i][0]);
		assert_ptr_equal(e.kind, &err_malformed);
		if (!strstr(e.detail, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], e.detail);
	}
	assert_null(parse(STR("[\0]"), NULL));
	/* An escaped backslash before u is no escape of a surrogate. */
	assert_non_null(parse(STR("\"\\\\ud800\""), NULL));
}

static struct str
object_of(int members, int repeated)
{
	struct buf b;
	struct str text;

	buf_init(&b, 1 << 22);
	buf_add_byte(&b, '{');
	for (int i = 0; i < members; i++)
		buf_addf(&b, "\"m%d\":0,", i == members - 1 ? repeated : i);
	b.p[b.n - 1] = '}';
	text = arena_str(arena, buf_str(&b));
	buf_fini(&b);
	return text;
}

/* The first member again as the last, in objects of every size. */
static void
test_duplicates(void **state)
{
	static const int sizes[] = { 2, 15, 16, 17, 18, 19, 40, 50000 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct err e = { 0 };

		assert_non_null(parse(object_of(sizes[i], 999999), &e));
		assert_null(parse(object_of(sizes[i], 0), &e));
		assert_non_null(strstr(e.detail, "duplicate"));
		if (sizes[i] > 2)
			assert_null(
			    parse(object_of(sizes[i], sizes[i] - 2), NULL));
	}
}

static struct str
nested(size_t depth)
{
	char *text = arena_alloc(arena, 2 * depth + 1);

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return (struct str){ text, 2 * depth };
}

static void
test_limits(void **state)
{
	struct json_limits limits = { 10, 3, 4 };
	struct err e = { 0 };
	struct json *v;

	(void)state;
	assert_non_null(parse(nested(64), &e));
	assert_null(parse(nested(65), &e));
	assert_ptr_equal(e.kind, &err_malformed);
	assert_non_null(strstr(e.detail, "deep"));
	err_clear(&e);
	assert_null(parse(nested(500000), &e));
	assert_non_null(strstr(e.detail, "deep"));
	err_clear(&e);
	assert_int_equal(json_parse(arena, STR("[[[3]]]"), &limits, &v, &e), 0);
	assert_int_equal(json_parse(arena, STR("[1,2,3]"), &limits, &v, &e), 0);
	assert_int_equal(
	    json_parse(arena, STR("[1,2,3,4]"), &limits, &v, &e), -1);
	assert_ptr_equal(e.kind, &err_too_large);
	err_clear(&e);
	assert_int_equal(
	    json_parse(arena, STR("\"12345678\""), &limits, &v, &e), 0);
	assert_int_equal(
	    json_parse(arena, STR("\"123456789\""), &limits, &v, &e), -1);
	assert_ptr_equal(e.kind, &err_too_large);
	err_clear(&e);
	v = NULL;
	assert_null(
	    parse((struct str){ arena_alloc(arena, 1048577), 1048577 }, &e));
	assert_ptr_equal(e.kind, &err_too_large);
}

static void
test_members(void **state)
{
	struct err e = { 0 };
	struct json *v = parse(STR("{\"s\":\"x\",\"i\":-5,\"z\":-0,"
				   "\"max\":9007199254740991,"
				   "\"over\":9007199254740992,\"f\":1.0,"
				   "\"e\":1e3,\"n\":null}"),
	    &e);
	int64_t i = 7;

	(void)state;
	assert_true(str_is(json_get_str(v, "s"), "x"));
	assert_null(json_get_str(v, "i").p);
	assert_null(json_get_str(v, "none").p);
	assert_null(json_get(v, "none"));
	assert_null(json_get(NULL, "s"));
	assert_null(json_get(json_get(v, "s"), "s"));
	assert_int_equal(json_get(v, "n")->type, JSON_NULL);
	assert_false(json_get_int(v, "over", &i));
	assert_false(json_get_int(v, "f", &i));
	assert_false(json_get_int(v, "e", &i));
	assert_false(json_get_int(v, "s", &i));
	assert_false(json_get_int(v, "none", &i));
	assert_int_equal(i, 7);
	assert_true(json_get_int(v, "i", &i));
	assert_int_equal(i, -5);
	assert_true(json_get_int(v, "z", &i));
	assert_int_equal(i, 0);
	assert_true(json_get_int(v, "max", &i));
	assert_int_equal(i, INT64_C(9007199254740991));
}

static void
test_building(void **state)
{
	struct json *o = json_object(arena), *list = json_array(arena), *copy;

	(void)state;
	json_push(list, json_int(arena, INT64_MIN));
	json_push(list, json_bool(arena, true));
	json_push(list, json_bool(arena, false));
	json_push(list, json_string(arena, STR_NONE));
	json_put_str(arena, o, "s", STR("a\"b"));
	json_put_int(arena, o, "i", 7);
	json_put(o, "list", list);
	json_put(o, "empty", json_object(arena));
	copy = json_copy(arena, o);
	json_put(copy, "more", json_null(arena));
	json_push(copy->first->next->next, json_null(arena));
	assert_string_equal(written(o, false).p,
	    "{\"s\":\"a\\\"b\",\"i\":7,\"list\":[-9223372036854775808,true,"
	    "false,null],\"empty\":{}}");
	assert_int_equal(o->n, 4);
	assert_int_equal(copy->n, 5);
	assert_string_equal(written(o, true).p,
	    "{\n  \"s\": \"a\\\"b\",\n  \"i\": 7,\n  \"list\": [\n"
	    "    -9223372036854775808,\n    true,\n    false,\n    null\n  ],\n"
	    "  \"empty\": {}\n}");
}

static void
test_written(void **state)
{
	struct arena *a = arena_new();
	struct json *v = json_object(a);
	struct buf b;

	(void)state;
	json_put(v, "as", json_written(a, STR("{\"it\":[1,\"\\u0001\"]}")));
	json_put_int(a, v, "n", 1);
	buf_init(&b, 100);
	json_write(v, &b);
	assert_true(
	    str_is(buf_str(&b), "{\"as\":{\"it\":[1,\"\\u0001\"]},\"n\":1}"));
	buf_fini(&b);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_building),
		cmocka_unit_test(test_written),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
