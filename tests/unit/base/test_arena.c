#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <stdalign.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/arena.h"

/* Sizes around every boundary: zeroed, aligned, apart from each other. */
static void
test_pieces(void **state)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, 8191, 8193, 32768,
		40000, 300000, 3, 2000000, 5 };
	enum { N = sizeof sizes / sizeof sizes[0] };
	struct arena *a = arena_new();
	unsigned char *pieces[N];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < N; i++) {
			pieces[i] = arena_alloc(a, sizes[i]);
			assert_int_equal(
			    (uintptr_t)pieces[i] % alignof(max_align_t), 0);
			for (size_t k = 0; k < sizes[i]; k++)
				assert_int_equal(pieces[i][k], 0);
			memset(pieces[i], (int)i + 1, sizes[i]);
		}
		for (size_t i = 0; i < N; i++)
			for (size_t k = 0; k < sizes[i]; k++)
				assert_int_equal(pieces[i][k], i + 1);
		arena_reset(a);
	}
	arena_free(a);
	arena_free(NULL);
}

static void
test_reset_reuses(void **state)
{
	struct arena *a = arena_new();
	void *first;

	(void)state;
	/* What is kept grows to what was needed, and is used again. */
	for (int i = 0; i < 100; i++)
		arena_alloc(a, 1000);
	arena_reset(a);
	first = arena_alloc(a, 100);
	for (int i = 0; i < 100; i++)
		arena_alloc(a, 1000);
	arena_reset(a);
	assert_ptr_equal(arena_alloc(a, 100), first);
	arena_free(a);
}

static void
test_text(void **state)
{
	struct arena *a = arena_new();
	struct str s = arena_str(a, STR("a\0b"));
	char wide[1000];

	(void)state;
	assert_true(str_eq(s, STR("a\0b")));
	assert_int_equal(s.p[3], '\0');
	assert_null(arena_str(a, STR_NONE).p);
	assert_null(arena_cstr(a, STR_NONE));
	assert_string_equal(arena_cstr(a, STR("")), "");
	assert_string_equal(arena_printf(a, "%d-%s", 7, "x"), "7-x");
	memset(wide, 'w', sizeof wide - 1);
	wide[sizeof wide - 1] = '\0';
	s = arena_strf(a, "<%s>", wide);
	assert_int_equal(s.n, sizeof wide + 1);
	assert_int_equal(s.p[s.n - 1], '>');
	assert_int_equal(s.p[s.n], '\0');
	arena_free(a);
}

/* A product that overflows ends the process rather than wrapping. */
static void
test_overflow(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		fclose(stderr);
		arena_array(arena_new(), SIZE_MAX / 2, 3);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_reset_reuses),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
