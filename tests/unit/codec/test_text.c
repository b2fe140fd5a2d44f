#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/codec/text.h"

static void
test_hex(void **state)
{
	char text[9];
	uint8_t bytes[4] = { 0 };

	(void)state;
	hex_encode("\x00\x7f\x80\xff", 4, text);
	assert_string_equal(text, "007f80ff");
	hex_encode("", 0, text);
	assert_string_equal(text, "");
	assert_true(hex_decode(STR("007f80ff"), bytes, 4));
	assert_memory_equal(bytes, "\x00\x7f\x80\xff", 4);
	assert_false(hex_decode(STR("007F80FF"), bytes, 4));
	assert_false(hex_decode(STR("007f80f"), bytes, 4));
	assert_false(hex_decode(STR("007f80ff0"), bytes, 4));
	assert_false(hex_decode(STR("007f80fg"), bytes, 4));
	assert_false(hex_decode(STR("007f80ff"), bytes, 3));
	assert_true(hex_decode(STR(""), bytes, 0));
}

/* RFC 4648, section 10. */
static void
test_base64(void **state)
{
	static const char *const pairs[][2] = { { "", "" }, { "f", "Zg==" },
		{ "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
		{ "\xfb\xff\xbf", "+/+/" } };

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		struct str plain = str_from(pairs[i][0]);
		char text[16], back[16];
		struct buf b;
		size_t n;

		base64_encode(plain.p, plain.n, text);
		assert_string_equal(text, pairs[i][1]);
		assert_int_equal(strlen(text), BASE64_LENGTH(plain.n));
		assert_true(
		    base64_decode(str_from(text), back, sizeof back, &n));
		assert_int_equal(n, plain.n);
		assert_memory_equal(back, plain.p, n);
		if (n > 0)
			assert_false(
			    base64_decode(str_from(text), back, n - 1, &n));
		buf_init(&b, 16);
		base64_add(&b, plain);
		assert_true(str_is(buf_str(&b), text));
		buf_fini(&b);
	}
}

static void
test_base64_refuses(void **state)
{
	static const char *const bad[] = { "Z", "Zg", "Zg=", "Zg===", "=",
		"====", "Z===", "Zh==", "Zm9=", "Zm9v\n", "Zm 9",
		"Zg==Zg==", "-_-_", "Zm9vYg=b", "Z=g=", "Zm\0v" };
	char out[64];
	size_t n = 77;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (base64_decode(str_from(bad[i]), out, sizeof out, &n))
			fail_msg("%s", bad[i]);
	assert_false(base64_decode(STR("Zm\0v"), out, sizeof out, &n));
	assert_int_equal(n, 77);
}

static void
expect_decoded(const char *text, bool plus, const char *want)
{
	struct arena *a = arena_new();
	struct str out;
	bool good = percent_decode(a, str_from(text), plus, &out);

	if (good != (want != NULL))
		fail_msg("%s", text);
	if (want)
		assert_true(str_is(out, want));
	arena_free(a);
}

static void
test_percent(void **state)
{
	struct buf b;

	(void)state;
	expect_decoded("a%20b%2Fc%2f+", false, "a b/c/+");
	expect_decoded("a+b%2B", true, "a b+");
	expect_decoded("", false, "");
	expect_decoded("%C3%A9", false, "\xc3\xa9");
	expect_decoded("%", false, NULL);
	expect_decoded("%4", false, NULL);
	expect_decoded("%4g", false, NULL);
	expect_decoded("%g4", false, NULL);
	expect_decoded("%00", false, NULL);
	expect_decoded("%C3", false, NULL);
	expect_decoded("%ED%A0%80", false, NULL);
	expect_decoded("\xff", false, NULL);
	buf_init(&b, 100);
	percent_add(&b, STR("aZ09-._~ /%\xc3\xa9"));
	assert_true(str_is(buf_str(&b), "aZ09-._~%20%2F%25%C3%A9"));
	buf_fini(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_base64_refuses),
		cmocka_unit_test(test_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
