#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "ledger/base/instant.h"

static void
expect_text(int64_t us, const char *text)
{
	char got[INSTANT_TEXT + 1];
	struct instant back = { -1 };

	instant_format((struct instant){ us }, got);
	assert_string_equal(got, text);
	assert_true(instant_parse(str_from(text), &back));
	assert_int_equal(back.us, us);
}

static void
test_format(void **state)
{
	(void)state;
	expect_text(0, "1970-01-01T00:00:00.000000Z");
	expect_text(1, "1970-01-01T00:00:00.000001Z");
	expect_text(951782399999999, "2000-02-28T23:59:59.999999Z");
	expect_text(951782400000000, "2000-02-29T00:00:00.000000Z");
	expect_text(INT64_C(253402300799999999), "9999-12-31T23:59:59.999999Z");
}

/* Every day of four centuries and more, against the C library. */
static void
test_calendar(void **state)
{
	(void)state;
	for (int64_t day = 0; day < 160000; day++) {
		char want[64], got[INSTANT_TEXT + 1];
		time_t t = (time_t)(day * 86400 + 12345);
		struct tm tm;
		struct instant back;

		gmtime_r(&t, &tm);
		strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%S.000000Z", &tm);
		instant_format((struct instant){ t * 1000000 }, got);
		assert_string_equal(got, want);
		assert_true(instant_parse(str_from(got), &back));
		assert_int_equal(back.us, t * 1000000);
	}
}

static void
test_strict_form(void **state)
{
	static const char *const bad[] = { "", "2026-01-01T00:00:00Z",
		"2026-01-01T00:00:00.00000Z", "2026-01-01T00:00:00.0000000Z",
		"2026-01-01t00:00:00.000000Z", "2026-01-01T00:00:00.000000z",
		"2026-01-01 00:00:00.000000Z", "2026-02-29T00:00:00.000000Z",
		"1900-02-29T00:00:00.000000Z", "2026-13-01T00:00:00.000000Z",
		"2026-00-01T00:00:00.000000Z", "2026-01-00T00:00:00.000000Z",
		"2026-01-01T24:00:00.000000Z", "2026-01-01T00:60:00.000000Z",
		"2016-12-31T23:59:60.000000Z", "1969-12-31T23:59:59.999999Z",
		"2026-01-01T00:00:00.00-000Z", "2026-01-01T0:000:00.000000Z",
		"+026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.+01:00Z",
		"2026-01-01T00:00:00.0+01:00" };
	struct instant t = { 7 };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (instant_parse(str_from(bad[i]), &t))
			fail_msg("%s", bad[i]);
	assert_int_equal(t.us, 7);
}

static void
expect_instant(const char *text, int64_t us)
{
	struct instant t = { -1 };

	if (!instant_parse_rfc3339(str_from(text), &t))
		fail_msg("%s", text);
	assert_int_equal(t.us, us);
}

static void
test_rfc3339(void **state)
{
	static const char *const bad[] = { "", "2026-01-01",
		"1985-04-12T23:20Z", "2026-01-01T00:00:00",
		"2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0100",
		"2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60",
		"2026-01-01T00:00:00Zx", "2026-01-01T00:00:60Z",
		"2026-01-01T12:59:60Z", "1969-12-31T23:59:59Z",
		"1970-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
		"2026-1-01T00:00:00Z" };
	struct instant t;

	(void)state;
	/* RFC 3339, 5.8 */
	expect_instant("1985-04-12T23:20:50.52Z", 482196050520000);
	expect_instant("1996-12-19T16:39:57-08:00", 851042397000000);
	expect_instant("1990-12-31T23:59:60Z", 662688000000000);
	expect_instant("1990-12-31T15:59:60-08:00", 662688000000000);
	expect_instant("1985-04-12t23:20:50.520000999z", 482196050520000);
	expect_instant("1970-01-01T00:30:00+00:30", 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (instant_parse_rfc3339(str_from(bad[i]), &t))
			fail_msg("%s", bad[i]);
}

static void
test_dates(void **state)
{
	(void)state;
	assert_true(date_is_valid(STR("2024-02-29")));
	assert_true(date_is_valid(STR("2000-02-29")));
	assert_false(date_is_valid(STR("1900-02-29")));
	assert_false(date_is_valid(STR("2026-04-31")));
	assert_false(date_is_valid(STR("2026-04-3")));
	assert_false(date_is_valid(STR("2026-04-030")));
	assert_false(date_is_valid(STR("2026/04/30")));
	assert_false(date_is_valid(STR_NONE));
}

static void
test_clock(void **state)
{
	struct instant wall = clock_system.wall(&clock_system);
	struct instant a = clock_system.steady(&clock_system);
	struct instant b = clock_system.steady(&clock_system);

	(void)state;
	assert_true(wall.us / 1000000 - (int64_t)time(NULL) <= 1);
	assert_true((int64_t)time(NULL) - wall.us / 1000000 <= 1);
	assert_true(a.us > 0 && b.us >= a.us);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_calendar),
		cmocka_unit_test(test_strict_form),
		cmocka_unit_test(test_rfc3339),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
