/*
 * The key's own count: a ledger put back to an earlier state is read, and not
 * written to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/io.h"
#include "tests/support/toy_fixture.h"

#define STRIDE 8192

static int
setup(void **state)
{
	*state = toy_fixture_new(sizeof(struct toy_fixture));
	return 0;
}

static void
reopen(struct toy_fixture *f)
{
	toy_fixture_close(f);
	toy_fixture_open(f);
}

static char *
mark_file(struct toy_fixture *f)
{
	return arena_printf(f->a, "%s/signed", f->toy.keys_dir);
}

static void
write_mark(struct toy_fixture *f, const char *text)
{
	struct err e = { 0 };

	assert_int_equal(
	    io_write_file(mark_file(f), str_from(text), 0600, &e), 0);
}

static void
set_mark(struct toy_fixture *f, uint64_t mark)
{
	write_mark(f, arena_printf(f->a, "probity-signed/v1 %.*s %" PRIu64 "\n",
			  STR_ARGS(f->toy.options.origin), mark));
}

static uint64_t
get_mark(struct toy_fixture *f)
{
	struct str text, word;
	struct err e = { 0 };
	uint64_t mark;

	assert_int_equal(io_read_file(f->a, mark_file(f), 512, &text, &e), 0);
	word = str_take(&text, '\n');
	assert_string_equal(
	    arena_cstr(f->a, str_take(&word, ' ')), "probity-signed/v1");
	assert_true(str_eq(str_take(&word, ' '), f->toy.options.origin));
	assert_true(str_to_u64(word, &mark));
	return mark;
}

static void
test_the_count_is_ahead_by_a_stride_at_most(void **state)
{
	struct toy_fixture *f = *state;

	reopen(f);
	for (int i = 0; i < 5; i++) {
		toy_fixture_note(f, "a note");
		assert_in_range(get_mark(f), toy_fixture_size(f),
		    toy_fixture_size(f) + STRIDE);
	}
}

static void
test_it_moves_ahead_of_the_writers(void **state)
{
	struct toy_fixture *f = *state;
	uint64_t near;

	reopen(f);
	near = toy_fixture_size(f) + 300;
	set_mark(f, near);
	reopen(f);
	toy_fixture_note(f, "a note");
	assert_true(get_mark(f) > near + STRIDE / 2);
}

static void
test_an_older_copy_is_read_and_not_written_to(void **state)
{
	struct toy_fixture *f = *state;
	uint64_t size;
	struct err e;

	reopen(f);
	size = toy_fixture_size(f);
	set_mark(f, size + STRIDE + 1);
	reopen(f);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(
		    toy_fixture_try_note(f, "a note", &e), &err_rolled_back);
	}
	assert_int_equal(toy_fixture_size(f), size);
	assert_int_equal(get_mark(f), size + STRIDE + 1);

	/* The newer copy is back: here, the count is one that fits. */
	set_mark(f, size + STRIDE);
	reopen(f);
	toy_fixture_note(f, "a note");
	assert_int_equal(toy_fixture_size(f), size + 1);
}

static void
test_a_count_that_cannot_be_read_stops_writing(void **state)
{
	static const char *const bad[] = { "", "probity-signed/v1\n",
		"probity-signed/v1 ledger.example.com/other/sandbox 100\n",
		"probity-signed/v2 ledger.example.com/toy/sandbox 100\n" };
	struct toy_fixture *f = *state;
	struct err e;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		write_mark(f, bad[i]);
		reopen(f);
		assert_ptr_equal(
		    toy_fixture_try_note(f, "a note", &e), &err_unavailable);
		assert_non_null(strstr(e.detail, "signed"));
	}
	assert_true(toy_fixture_size(f) > 0);
}

static void
test_a_ledger_from_before_gets_its_count(void **state)
{
	struct toy_fixture *f = *state;

	assert_int_equal(remove(mark_file(f)), 0);
	reopen(f);
	toy_fixture_note(f, "a note");
	assert_in_range(
	    get_mark(f), toy_fixture_size(f), toy_fixture_size(f) + STRIDE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, toy_fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_count_is_ahead_by_a_stride_at_most),
		TEST(test_it_moves_ahead_of_the_writers),
		TEST(test_an_older_copy_is_read_and_not_written_to),
		TEST(test_a_count_that_cannot_be_read_stops_writing),
		TEST(test_a_ledger_from_before_gets_its_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
