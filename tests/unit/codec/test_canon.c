#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "ledger/codec/canon.h"
#include "ledger/codec/text.h"

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

static struct json *
parse(struct str text)
{
	struct err e = { 0 };
	struct json *v = NULL;

	assert_int_equal(
	    json_parse(arena, text, &json_limits_default, &v, &e), 0);
	return v;
}

static struct str
canonical(struct str text)
{
	struct err e = { 0 };
	struct str out = STR_NONE;

	assert_int_equal(canon_str(arena, parse(text), &out, &e), 0);
	return out;
}

static struct str
read_vector(const char *folder, const char *name, const char *ending)
{
	struct err e = { 0 };
	struct str out = STR_NONE;
	char *path = arena_printf(
	    arena, "tests/vectors/jcs/%s/%s.%s", folder, name, ending);

	assert_int_equal(io_read_file(arena, path, 65536, &out, &e), 0);
	return out;
}

/* The published output, and once more as the hexadecimal that goes with it. */
static void
test_published_vectors(void **state)
{
	static const char *const names[] = { "arrays", "french", "structures",
		"unicode", "values", "weird" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct str in = read_vector("input", names[i], "json");
		struct str out = read_vector("output", names[i], "json");
		struct str hex = read_vector("outhex", names[i], "txt");
		struct buf digits;
		struct str got = canonical(in);
		uint8_t bytes[4096];

		buf_init(&digits, 65536);
		for (size_t k = 0; k < hex.n; k++)
			if (hex.p[k] != ' ' && hex.p[k] != '\n')
				buf_add_byte(&digits, (unsigned char)hex.p[k]);
		assert_true(hex_decode(
		    buf_str(&digits), bytes, buf_str(&digits).n / 2));
		assert_int_equal(got.n, digits.n / 2);
		assert_memory_equal(got.p, bytes, got.n);
		assert_true(str_eq(got, out));
		buf_fini(&digits);
	}
}

static void
expect_canonical(const char *in, const char *out)
{
	struct str got = canonical(str_from(in));

	assert_string_equal(got.p, out);
}

static void
test_order_is_of_utf16(void **state)
{
	(void)state;
	expect_canonical(
	    "{\"b\":1,\"a\":2,\"\":3}", "{\"\":3,\"a\":2,\"b\":1}");
	expect_canonical("{\"aa\":1,\"a\":2}", "{\"a\":2,\"aa\":1}");
	/* U+1F600 before U+FB33, though its UTF-8 is after. */
	expect_canonical("{\"\\ufb33\":1,\"\\ud83d\\ude00\":2}",
	    "{\"\xf0\x9f\x98\x80\":2,\"\xef\xac\xb3\":1}");
	/* U+D7FF before both. */
	expect_canonical("{\"\\ud83d\\ude00\":2,\"\\ud7ff\":1}",
	    "{\"\xed\x9f\xbf\":1,\"\xf0\x9f\x98\x80\":2}");
}

static void
test_strings_and_numbers(void **state)
{
	(void)state;
	expect_canonical("\"\\u0008\\u0009\\u000a\\u000c\\u000d\\u000b\\u001F"
			 "\\u007f\\/\\\"\\\\\"",
	    "\"\\b\\t\\n\\f\\r\\u000b\\u001f\x7f/\\\"\\\\\"");
	expect_canonical(" [ 1 , -0 , 0.0 , 1e3 , 1E-7 , 9007199254740993 ] ",
	    "[1,0,0,1000,1e-7,9007199254740992]");
	expect_canonical("[9007199254740991,-9007199254740991,1.0]",
	    "[9007199254740991,-9007199254740991,1]");
}

/* More members than are sorted on the stack. */
static void
test_many_members(void **state)
{
	struct json *object = json_object(arena);
	struct err e = { 0 };
	struct str out;

	(void)state;
	for (int i = 299; i >= 100; i--)
		json_put(
		    object, arena_printf(arena, "m%d", i), json_int(arena, i));
	assert_int_equal(canon_event(arena, object, &out, &e), 0);
	assert_true(str_has_prefix(out, STR("{\"m100\":100,\"m101\":101,")));
	assert_int_equal(canon_check_event(out, &e), 0);
}

static void
expect_refused(struct json *v, const char *detail)
{
	struct err e = { 0 };
	struct str out;

	assert_int_equal(canon_str(arena, v, &out, &e), -1);
	assert_ptr_equal(e.kind, &err_malformed);
	assert_non_null(strstr(e.detail, detail));
}

static void
test_refusals(void **state)
{
	struct json *object = json_object(arena);

	(void)state;
	expect_refused(parse(STR("[1e400]")), "range");
	expect_refused(parse(STR("[-1e999999999999]")), "range");
	expect_refused(json_string(arena, STR("\xed\xa0\x80")), "UTF-8");
	json_put_int(arena, object, "a", 1);
	json_put_int(arena, object, "a", 2);
	expect_refused(object, "duplicate");
}

/* A number of a megabyte is still a number. */
static void
test_long_number(void **state)
{
	size_t n = 900000;
	char *text = arena_alloc(arena, n + 1);
	struct str out;

	(void)state;
	memset(text, '3', n);
	memcpy(text, "0.", 2);
	out = canonical((struct str){ text, n });
	assert_true(str_is(out, "0.3333333333333333"));
}

static void
expect_no_event(const char *text, const char *detail)
{
	struct err e = { 0 };
	struct str out;

	assert_int_equal(
	    canon_event(arena, parse(str_from(text)), &out, &e), -1);
	assert_ptr_equal(e.kind, &err_malformed);
	if (!strstr(e.detail, detail))
		fail_msg("%s is not in: %s", detail, e.detail);
}

static void
test_event_form(void **state)
{
	struct err e = { 0 };
	struct str out;

	(void)state;
	assert_int_equal(canon_event(arena,
			     parse(STR("{\"b\":[-0,{\"z_9\":\"x\"}],"
				       "\"a\":-9007199254740991}")),
			     &out, &e),
	    0);
	assert_string_equal(
	    out.p, "{\"a\":-9007199254740991,\"b\":[0,{\"z_9\":\"x\"}]}");
	expect_no_event("{\"a\":1.0}", "\"/a\"");
	expect_no_event("{\"a\":1e3}", "\"/a\"");
	expect_no_event("{\"a\":[0,9007199254740992]}", "\"/a/1\"");
	expect_no_event("{\"a\":[0,-9007199254740992]}", "\"/a/1\"");
	expect_no_event("{\"a\":{\"A~/\":1}}", "\"/a/A~0~1\"");
	expect_no_event("{\"\":1}", "[a-z]");
	expect_no_event("{\"_a\":1}", "[a-z]");
	expect_no_event("{\"a-b\":1}", "[a-z]");
	expect_no_event("{\"a\":[\"\\u0000\"]}", "U+0000");
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
expect_event_bytes(struct str text, const char *detail)
{
	struct err e = { 0 };
	int rc = canon_check_event(text, &e);

	if (!detail && rc)
		fail_msg("%.*s: %s", STR_ARGS(text), e.detail);
	if (!detail)
		return;
	if (rc == 0)
		fail_msg("%.*s passed", STR_ARGS(text));
	assert_ptr_equal(e.kind, &err_malformed);
	if (!strstr(e.detail, detail))
		fail_msg("%s is not in: %s", detail, e.detail);
}

static void
test_check_accepts(void **state)
{
	static const char *const good[] = { "{}", "[]", "0", "-1", "null",
		"true", "false", "\"\"", "{\"a\":[],\"b\":{},\"ba\":null}",
		"[9007199254740991,-9007199254740991]",
		"\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/\"",
		"\"long enough to be read eight bytes at a time \xc3\xa9\"",
		"\"\xf0\x9f\x98\x80\"" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		expect_event_bytes(str_from(good[i]), NULL);
	expect_event_bytes(nested(64), NULL);
}

static void
test_check_refuses(void **state)
{
	static const char *const bad[][2] = {
		{ "", "a value" },
		{ " {}", "at \"\"" },
		{ "{} ", "follows" },
		{ "{}{}", "follows" },
		{ "{\"a\":1,\"a\":2}", "\"/a\"" },
		{ "{\"b\":1,\"a\":2}", "sorted" },
		{ "{\"aa\":1,\"a\":2}", "sorted" },
		{ "{\"a\" :1}", "\":\"" },
		{ "{\"a\":1,}", "name" },
		{ "{\"A\":1}", "[a-z]" },
		{ "{\"1\":1}", "[a-z]" },
		{ "{\"\":1}", "[a-z]" },
		{ "{\"a\\u0062\":1}", "[a-z]" },
		{ "{\"a", "[a-z]" },
		{ "{\"a\":", "a value" },
		{ "{", "name" },
		{ "[", "a value" },
		{ "[1,]", "\"/1\"" },
		{ "[1 ,2]", "\",\"" },
		{ "[0,{\"a\":[1,01]}]", "\"/1/a/1\"" },
		{ "-0", "canonical" },
		{ "00", "canonical" },
		{ "-", "integer" },
		{ "1.0", "follows" },
		{ "1e3", "follows" },
		{ "9007199254740992", "2^53" },
		{ "-9007199254740992", "2^53" },
		{ "99999999999999999999999999", "2^53" },
		{ "nul", "JSON" },
		{ "nulll", "follows" },
		{ "\"", "end" },
		{ "\"a", "end" },
		{ "\"\\", "end" },
		{ "\"\\u00", "escape" },
		{ "\"\\/\"", "escape" },
		{ "\"\\u000A\"", "escape" },
		{ "\"\\u000a\"", "shortest" },
		{ "\"\\u0041\"", "escape" },
		{ "\"\\ud83d\\ude00\"", "escape" },
		{ "\"\\u0000\"", "U+0000" },
		{ "\"\n\"", "control" },
		{ "\"seven b\n\"", "control" },
		{ "\"\xed\xa0\x80\"", "UTF-8" },
		{ "\"\xc0\x80\"", "UTF-8" },
		{ "\"\xf4\x90\x80\x80\"", "UTF-8" },
		{ "\"cut short \xc3\"", "UTF-8" },
		{ "\xef\xbb\xbf{}", "at \"\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		expect_event_bytes(str_from(bad[i][0]), bad[i][1]);
	expect_event_bytes(STR("\"a\0\""), "control");
	expect_event_bytes(STR_NONE, "a value");
	expect_event_bytes(nested(65), "64 deep");
	expect_event_bytes(nested(100000), "64 deep");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_vectors),
		cmocka_unit_test(test_order_is_of_utf16),
		cmocka_unit_test(test_strings_and_numbers),
		cmocka_unit_test(test_many_members),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_long_number),
		cmocka_unit_test(test_event_form),
		cmocka_unit_test(test_check_accepts),
		cmocka_unit_test(test_check_refuses),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
