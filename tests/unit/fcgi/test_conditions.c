#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fcgi/conditions.h"

#define TAG   "\"abc\""
#define OTHER "\"def\""

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

/* Of a read: 200, 304, or 412. */
static const struct {
	const char *match, *none_match; /* NULL: not sent */
	int read, write;                /* 0: the write is done */
} cases[] = {
	{ NULL, NULL, 200, 0 },
	{ TAG, NULL, 200, 0 },
	{ OTHER, NULL, 412, 412 },
	{ "*", NULL, 200, 0 },
	{ OTHER ", " TAG, NULL, 200, 0 },
	{ OTHER "," TAG "," OTHER, NULL, 200, 0 },
	{ "W/" TAG, NULL, 412, 412 },
	{ "W/" TAG ", " TAG, NULL, 200, 0 },
	{ "abc", NULL, 412, 412 },
	{ "\"ab\"", NULL, 412, 412 },
	{ "", NULL, 412, 412 },
	{ NULL, TAG, 304, 412 },
	{ NULL, "W/" TAG, 304, 412 },
	{ NULL, OTHER, 200, 0 },
	{ NULL, OTHER ", W/" TAG, 304, 412 },
	{ NULL, "*", 304, 412 },
	{ NULL, "", 200, 0 },
	/* If-Match is judged first (RFC 9110, 13.2.2). */
	{ OTHER, TAG, 412, 412 },
	{ TAG, TAG, 304, 412 },
};

static struct headers
headers_of(size_t i, struct header items[2])
{
	struct headers h = { items, 0 };

	if (cases[i].match)
		items[h.n++] = (struct header){ STR("if-match"),
			str_from(cases[i].match) };
	if (cases[i].none_match)
		items[h.n++] = (struct header){ STR("if-none-match"),
			str_from(cases[i].none_match) };
	return h;
}

static void
test_reads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct header items[2];
		struct headers h = headers_of(i, items);
		struct response r = { .status = 200,
			.type = "application/json",
			.body = STR("{}") };
		struct err e = { 0 };
		int rc = conditions_answer(&h, STR(TAG), a, &r, &e);

		if (rc != (cases[i].read == 412 ? -1 : 0) ||
		    (rc ? e.kind->status : r.status) != cases[i].read)
			fail_msg("case %zu: %d", i, r.status);
		if (rc == 0) {
			assert_string_equal(r.headers->name, "ETag");
			assert_true(str_is(r.headers->value, TAG));
		}
		assert_true(r.status != 304 || !r.type);
	}
}

static void
test_writes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct header items[2];
		struct headers h = headers_of(i, items);
		struct err e = { 0 };

		if (conditions_match(&h, STR(TAG), &e) !=
		    (cases[i].write ? -1 : 0))
			fail_msg("case %zu", i);
		assert_true(!cases[i].write || e.kind == &err_precondition);
	}
}

/* Where nothing is, nothing matches: "*" neither. */
static void
test_nothing_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct header items[2];
		struct headers h = headers_of(i, items);
		struct err e = { 0 };

		assert_int_equal(conditions_match(&h, STR_NONE, &e),
		    cases[i].match ? -1 : 0);
	}
}

static int closed;

static void
close_source(struct response_source *source)
{
	(void)source;
	closed++;
}

/* A body that is made while it is sent does not go out behind a refusal. */
static void
test_source_is_closed(void **state)
{
	struct response_source source = { NULL, close_source };
	struct response r = { .status = 200, .type = "x/y", .source = &source };
	struct header items[2];
	struct headers h = headers_of(2, items);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(conditions_answer(&h, STR(TAG), a, &r, &e), -1);
	assert_int_equal(closed, 1);
	assert_null(r.source);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_writes),
		cmocka_unit_test(test_nothing_is_there),
		cmocka_unit_test(test_source_is_closed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
