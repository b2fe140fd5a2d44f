#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/money.h"

static const struct currency *
currency_of(const char *code)
{
	const struct currency *c = currency_find(str_from(code));

	assert_non_null(c);
	return c;
}

struct reading {
	const char *currency, *text;
	enum money_fault fault;
	int64_t minor;
};

/* clang-format off */
static const struct reading readings[] = {
	{ "USD", "0", MONEY_OK, 0 },
	{ "USD", "0.00", MONEY_OK, 0 },
	{ "USD", "0e400", MONEY_OK, 0 },
	{ "USD", "1", MONEY_OK, 100 },
	{ "USD", "-1", MONEY_OK, -100 },
	{ "USD", "-0.01", MONEY_OK, -1 },
	{ "USD", "100.00", MONEY_OK, 10000 },
	{ "USD", "100.000", MONEY_OK, 10000 },
	{ "USD", "100.1000000000000000000000000", MONEY_OK, 10010 },
	{ "USD", "1E2", MONEY_OK, 10000 },
	{ "USD", "1e+2", MONEY_OK, 10000 },
	{ "USD", "1.5e1", MONEY_OK, 1500 },
	{ "USD", "12345e-2", MONEY_OK, 12345 },
	{ "USD", "1200e-4", MONEY_OK, 12 },
	{ "USD", "0.1", MONEY_OK, 10 },
	/* A double would give 1.0049999… and 0.28999…. */
	{ "USD", "1.005e1", MONEY_OK, 1005 },
	{ "USD", "0.29", MONEY_OK, 29 },
	{ "USD", "4503599627370497.50", MONEY_OK, 450359962737049750 },
	{ "USD", "9999999999999999.99", MONEY_OK, 999999999999999999 },
	{ "USD", "-9999999999999999.99", MONEY_OK, -999999999999999999 },
	{ "JPY", "5", MONEY_OK, 5 },
	{ "JPY", "5.0", MONEY_OK, 5 },
	{ "JPY", "999999999999999999", MONEY_OK, 999999999999999999 },
	{ "KWD", "0.001", MONEY_OK, 1 },
	{ "CLF", "0.0001", MONEY_OK, 1 },

	{ "USD", "0.001", MONEY_TOO_PRECISE, 0 },
	{ "USD", "1e-3", MONEY_TOO_PRECISE, 0 },
	{ "USD", "1e-400", MONEY_TOO_PRECISE, 0 },
	{ "USD", "1e-99999999999999999999", MONEY_TOO_PRECISE, 0 },
	{ "JPY", "0.001", MONEY_TOO_PRECISE, 0 },
	{ "JPY", "1.5", MONEY_TOO_PRECISE, 0 },
	{ "KWD", "0.0001", MONEY_TOO_PRECISE, 0 },

	{ "USD", "1e400", MONEY_TOO_LARGE, 0 },
	{ "USD", "-1e400", MONEY_TOO_LARGE, 0 },
	{ "USD", "1e99999999999999999999", MONEY_TOO_LARGE, 0 },
	{ "USD", "10000000000000000.00", MONEY_TOO_LARGE, 0 },
	{ "USD", "12345678901234567890", MONEY_TOO_LARGE, 0 },
	{ "USD", "9223372036854775808", MONEY_TOO_LARGE, 0 },
	{ "JPY", "1000000000000000000", MONEY_TOO_LARGE, 0 },
	{ "JPY", "12345678901234567890.1", MONEY_TOO_LARGE, 0 },

	{ "USD", "-0", MONEY_NEGATIVE_ZERO, 0 },
	{ "USD", "-0.00", MONEY_NEGATIVE_ZERO, 0 },
	{ "USD", "-0e5", MONEY_NEGATIVE_ZERO, 0 },

	{ "USD", "", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "-", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "+1", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "01", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "-01", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", ".5", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "5.", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "1e", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "1e+", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "1e2.0", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "1 ", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", " 1", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "1,000", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "1_000", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "0x10", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "NaN", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "Infinity", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "-Infinity", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "null", MONEY_NOT_A_NUMBER, 0 },
	{ "USD", "\xd9\xa1", MONEY_NOT_A_NUMBER, 0 }, /* Arabic digit one */
};
/* clang-format on */

static void
test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
		const struct reading *r = &readings[i];
		struct money m = { 77, NULL };
		enum money_fault fault = money_parse(
		    str_from(r->text), currency_of(r->currency), &m);

		if (fault != r->fault || m.minor != r->minor)
			fail_msg("%s %s: fault %d, minor %lld", r->currency,
			    r->text, fault, (long long)m.minor);
		assert_ptr_equal(m.currency, currency_of(r->currency));
	}
}

/* A number in the middle of other bytes: nothing behind it is looked at. */
static void
test_parse_borrowed(void **state)
{
	struct money m;

	(void)state;
	assert_int_equal(
	    money_parse(str_slice(STR("12.345"), 0, 5), currency_of("USD"), &m),
	    MONEY_OK);
	assert_int_equal(m.minor, 1234);
	assert_int_equal(
	    money_parse(STR_NONE, currency_of("USD"), &m), MONEY_NOT_A_NUMBER);
	assert_int_equal(money_parse((struct str){ "1\0"
						   "2",
					 3 },
			     currency_of("USD"), &m),
	    MONEY_NOT_A_NUMBER);
}

static void
expect_format(
    struct arena *a, const char *code, int64_t minor, const char *expected)
{
	struct money m = { minor, currency_of(code) }, again;
	int64_t bare;
	struct str text = money_format(a, m);

	assert_int_equal(text.n, strlen(expected));
	assert_memory_equal(text.p, expected, text.n);
	assert_int_equal(money_parse(text, m.currency, &again), MONEY_OK);
	assert_int_equal(again.minor, minor);
	assert_true(money_minor(text, &bare));
	assert_int_equal(bare, minor);
}

static void
test_format(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	expect_format(a, "USD", 10000, "100.00");
	expect_format(a, "USD", 0, "0.00");
	expect_format(a, "USD", 1, "0.01");
	expect_format(a, "USD", -1, "-0.01");
	expect_format(a, "USD", -12345, "-123.45");
	expect_format(a, "JPY", 5, "5");
	expect_format(a, "JPY", -5, "-5");
	expect_format(a, "KWD", -1, "-0.001");
	expect_format(a, "UYW", 12345, "1.2345");
	expect_format(a, "USD", 999999999999999999, "9999999999999999.99");
	arena_free(a);
}

static void
test_minor_refuses(void **state)
{
	static const char *const bad[] = { "", "x", "1e2", "1e0", "1.", ".5",
		"01", "12345678901234567890", "1.2345678901234567890" };
	int64_t minor;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(money_minor(str_from(bad[i]), &minor));
}

static void
expect_currency(const char *code, int digits, bool payable)
{
	const struct currency *c = currency_of(code);

	assert_string_equal(c->code, code);
	assert_int_equal(c->digits, digits);
	assert_int_equal(c->payable, payable);
}

static void
expect_currencies(const char *codes, int digits, bool payable)
{
	char code[4] = { 0 };

	for (; strlen(codes) >= 3; codes += codes[3] ? 4 : 3) {
		memcpy(code, codes, 3);
		expect_currency(code, digits, payable);
	}
}

static void
test_currencies(void **state)
{
	(void)state;
	expect_currencies("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND "
			  "VUV XAF XOF XPF",
	    0, true);
	expect_currencies("BHD IQD JOD KWD LYD OMR TND", 3, true);
	expect_currencies("CLF UYW", 4, true);
	expect_currencies("AED CHE CHW EUR GBP MGA MRU SLE USD USN VED XCD XCG "
			  "ZWG",
	    2, true);
	expect_currencies("XAD XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA "
			  "XXX",
	    0, false);
}

/* Every code from AAA to ZZZ: exactly the list is known, so its order is good
 * for a search in halves. */
static void
test_currency_count(void **state)
{
	char code[4] = { 0 };
	size_t known = 0;

	(void)state;
	for (int i = 0; i < 26 * 26 * 26; i++) {
		code[0] = (char)('A' + i / 676);
		code[1] = (char)('A' + i / 26 % 26);
		code[2] = (char)('A' + i % 26);
		known += currency_find(str_from(code)) != NULL;
	}
	assert_int_equal(known, 178);
}

static void
test_currency_unknown(void **state)
{
	static const char *const unknown[] = { "", "US", "USDX", "usd", "ABC",
		"HRK", "SLL", "ZWL", "DEM", "BTC", "US\n" };

	(void)state;
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
		assert_null(currency_find(str_from(unknown[i])));
	assert_null(currency_find(STR_NONE));
}

static void
test_add(void **state)
{
	int64_t sum;

	(void)state;
	assert_true(money_add(2, -3, &sum));
	assert_int_equal(sum, -1);
	assert_true(money_add(INT64_MAX, 0, &sum));
	assert_false(money_add(INT64_MAX, 1, &sum));
	assert_false(money_add(INT64_MIN, -1, &sum));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_borrowed),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_minor_refuses),
		cmocka_unit_test(test_currencies),
		cmocka_unit_test(test_currency_count),
		cmocka_unit_test(test_currency_unknown),
		cmocka_unit_test(test_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
