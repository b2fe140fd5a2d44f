#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "ledger/base/log.h"
#include "ledger/base/str.h"
#include "ledger/codec/json.h"

static char written[8192];

/* Swaps standard error for a pipe while one line is logged. */
static struct str
logged(enum log_level level, const char *module, const char *message)
{
	int ends[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	log_line(level, module, "%s", message);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	n = read(ends[0], written, sizeof written);
	close(ends[0]);
	assert_true(n >= 0);
	return (struct str){ written, (size_t)n };
}

/* One line that is one JSON object; its message. */
static struct str
message_of(struct arena *a, struct str line)
{
	struct err e = { 0 };
	struct json *v;

	assert_true(line.n > 0 && line.n <= 4096);
	assert_int_equal(str_find(line, '\n'), line.n - 1);
	assert_int_equal(json_parse(a, line, &json_limits_default, &v, &e), 0);
	assert_int_equal(json_get_str(v, "at").n, 27);
	return json_get_str(v, "message");
}

static void
test_lines(void **state)
{
	struct arena *a = arena_new();
	char wide[5000];
	struct str got;

	(void)state;
	got =
	    message_of(a, logged(LOG_WARN, "worker", "pack \"x\" \\ \n\t\x01"));
	assert_true(str_is(got, "pack \"x\" \\ \n\t\x01"));
	assert_true(str_has_prefix(str_from(written), STR("{\"at\":\"")));
	assert_non_null(
	    strstr(written, "\"level\":\"warn\",\"module\":\"worker\""));
	got =
	    message_of(a, logged(LOG_ERROR, "m", "caf\xc3\xa9 \xe2\x82 \xff"));
	assert_true(
	    str_is(got, "caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd"));
	for (size_t i = 0; i + 1 < sizeof wide; i++)
		wide[i] = i % 2 ? '"' : '\n';
	wide[sizeof wide - 1] = '\0';
	got = message_of(a, logged(LOG_ERROR, "m", wide));
	assert_true(got.n > 900 && memcmp(got.p, wide, got.n) == 0);
	arena_free(a);
}

static void
test_levels(void **state)
{
	(void)state;
	assert_int_equal(logged(LOG_DEBUG, "m", "x").n, 0);
	assert_true(logged(LOG_INFO, "m", "x").n > 0);
	log_set_level(LOG_ERROR);
	assert_int_equal(logged(LOG_WARN, "m", "x").n, 0);
	log_set_level(LOG_DEBUG);
	assert_true(logged(LOG_DEBUG, "m", "x").n > 0);
	log_set_level(LOG_INFO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
