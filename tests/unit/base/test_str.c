#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/str.h"

static void
test_equality(void **state)
{
	(void)state;
	assert_true(str_eq(STR("ab"), str_from("ab")));
	assert_false(str_eq(STR("ab"), STR("abc")));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_true(str_eq(STR_NONE, str_from(NULL)));
	assert_false(str_eq(STR_NONE, STR("")));
	assert_false(str_is(STR("a\0"), "a"));
	assert_true(str_cmp(STR("a"), STR("ab")) < 0);
	assert_true(str_cmp(STR("b"), STR("ab")) > 0);
	assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
	assert_int_equal(str_cmp(STR("x"), STR("x")), 0);
	assert_true(str_cmp(STR_NONE, STR("")) < 0);
}

static void
test_parts(void **state)
{
	struct str rest = STR("a,,b");

	(void)state;
	assert_true(str_has_prefix(STR("credit"), STR("cre")));
	assert_false(str_has_prefix(STR("cr"), STR("cre")));
	assert_true(str_has_suffix(STR("credit"), STR("dit")));
	assert_true(str_has_suffix(STR_NONE, STR("")));
	assert_int_equal(str_find(STR("abc"), 'c'), 2);
	assert_int_equal(str_find(STR("abc"), 'd'), 3);
	assert_int_equal(str_find(STR_NONE, 'd'), 0);
	assert_true(str_is(str_slice(STR("abcd"), 1, 3), "bc"));
	assert_true(str_is(str_slice(STR("abcd"), 3, 99), "d"));
	assert_true(str_is(str_slice(STR("abcd"), 9, 2), ""));
	assert_true(str_is(str_take(&rest, ','), "a"));
	assert_true(str_is(str_take(&rest, ','), ""));
	assert_true(str_is(str_take(&rest, ','), "b"));
	assert_null(rest.p);
	rest = STR("a,");
	assert_true(str_is(str_take(&rest, ','), "a"));
	assert_non_null(rest.p);
	assert_true(str_is(str_take(&rest, ','), ""));
	assert_null(rest.p);
}

static void
test_integers(void **state)
{
	static const char *const bad[] = { "", "-", "+1", " 1", "1 ", "01",
		"00", "1a", "18446744073709551616", "99999999999999999999",
		"0x1", "-1", "1.0" };
	uint64_t u = 7;
	int64_t i = 7;

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
		assert_false(str_to_u64(str_from(bad[k]), &u));
	assert_int_equal(u, 7);
	assert_true(str_to_u64(STR("18446744073709551615"), &u));
	assert_true(u == UINT64_MAX);
	assert_true(str_to_u64(STR("0"), &u));
	assert_int_equal(u, 0);
	assert_true(str_to_i64(STR("-9223372036854775808"), &i));
	assert_true(i == INT64_MIN);
	assert_true(str_to_i64(STR("9223372036854775807"), &i));
	assert_true(i == INT64_MAX);
	assert_false(str_to_i64(STR("9223372036854775808"), &i));
	assert_false(str_to_i64(STR("-9223372036854775809"), &i));
	assert_false(str_to_i64(STR("--1"), &i));
	assert_false(str_to_i64(STR_NONE, &i));
}

static void
test_utf8(void **state)
{
	static const char *const good[] = { "", "plain ascii, long enough",
		"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
		"\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf", "seven..\xc3\xa9 eight" };
	static const char *const bad[] = { "\x80", "\xbf", "\xc0\x80",
		"\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe0\xa0",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
		"\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
		"1234567\xff", "12345678\xe2\x82" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(str_is_utf8(str_from(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(str_is_utf8(str_from(bad[i])));
	assert_true(str_is_utf8(STR("a\0b")));
	assert_int_equal(
	    str_code_points(STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")), 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equality),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
