#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fcgi/trace.h"

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"
#define GOOD   "00-" TRACE "-" PARENT "-01"

static const struct {
	const char *sent, *read; /* NULL: nothing */
} cases[] = {
	{ NULL, NULL },
	{ GOOD, GOOD },
	{ "00-" TRACE "-" PARENT "-00", "00-" TRACE "-" PARENT "-00" },
	{ "cc-" TRACE "-" PARENT "-01", GOOD },
	{ "cc-" TRACE "-" PARENT "-01-what-ever", GOOD },
	{ "cc-" TRACE "-" PARENT "-01.what", NULL },
	{ GOOD "-more", NULL },
	{ GOOD ", " GOOD, NULL },
	{ "ff-" TRACE "-" PARENT "-01", NULL },
	{ "0-" TRACE "-" PARENT "-01", NULL },
	{ "0G-" TRACE "-" PARENT "-01", NULL },
	{ "00-00000000000000000000000000000000-" PARENT "-01", NULL },
	{ "00-" TRACE "-0000000000000000-01", NULL },
	{ "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01", NULL },
	{ "00-" TRACE "-" PARENT "-0", NULL },
	{ "00-" TRACE "-" PARENT "-0x", NULL },
	{ "00-" TRACE "_" PARENT "-01", NULL },
	{ "00-" TRACE "0" PARENT "0-01", NULL },
	{ "", NULL },
	{ "00", NULL },
};

static void
test_traceparent(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct header item = { STR("traceparent"),
			cases[i].sent ? str_from(cases[i].sent) : STR_NONE };
		struct headers h = { &item, cases[i].sent != NULL };
		struct str got = trace_read(&h, a);

		if (cases[i].read ? !str_is(got, cases[i].read) : got.p != NULL)
			fail_msg("case %zu: %.*s", i, STR_ARGS(got));
	}
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
	    test_traceparent) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
