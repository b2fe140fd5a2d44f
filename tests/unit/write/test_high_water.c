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
#include <stdlib.h>
#include <string.h>

#include "ledger/base/io.h"
#include "tests/support/toy.h"

#define STRIDE 8192

struct fixture {
	struct toy toy;
	struct ledger *ledger;
	struct arena *a;
	char path[400];
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	toy_create(&f->toy, NULL);
	f->a = arena_new();
	snprintf(f->path, sizeof f->path, "%s/signed", f->toy.keys_dir);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	ledger_close(f->ledger);
	arena_free(f->a);
	toy_remove(&f->toy);
	free(f);
	return 0;
}

static void
reopen(struct fixture *f)
{
	struct err e = { 0 };

	ledger_close(f->ledger);
	if (ledger_open(&f->toy.options, &f->ledger, &e))
		fail_msg("ledger_open: %s", e.detail);
}

static void
write_mark(struct fixture *f, const char *text)
{
	struct err e = { 0 };

	assert_int_equal(io_write_file(f->path, str_from(text), 0600, &e), 0);
}

static void
set_mark(struct fixture *f, uint64_t mark)
{
	write_mark(f, arena_printf(f->a, "probity-signed/v1 %.*s %" PRIu64 "\n",
			  STR_ARGS(f->toy.options.origin), mark));
}

static uint64_t
get_mark(struct fixture *f)
{
	struct str text, word;
	struct err e = { 0 };
	uint64_t mark;

	assert_int_equal(io_read_file(f->a, f->path, 512, &text, &e), 0);
	word = str_take(&text, '\n');
	assert_string_equal(
	    arena_cstr(f->a, str_take(&word, ' ')), "probity-signed/v1");
	assert_true(str_eq(str_take(&word, ' '), f->toy.options.origin));
	assert_true(str_to_u64(word, &mark));
	return mark;
}

static uint64_t
size_of(struct fixture *f)
{
	struct reading r;
	struct err e = { 0 };
	uint64_t size;

	assert_int_equal(ledger_read_begin(f->ledger, &r, &e), 0);
	assert_int_equal(ledger_read_size(&r, &size, &e), 0);
	ledger_read_end(&r);
	return size;
}

static int
note(struct fixture *f, struct err *e)
{
	struct receipt r;

	*e = (struct err){ 0 };
	return toy_note(f->ledger, f->a, STR("a note"), &r, e);
}

static void
test_the_count_is_ahead_by_a_stride_at_most(void **state)
{
	struct fixture *f = *state;
	struct err e;

	reopen(f);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(note(f, &e), 0);
		assert_in_range(get_mark(f), size_of(f), size_of(f) + STRIDE);
	}
}

static void
test_it_moves_ahead_of_the_writers(void **state)
{
	struct fixture *f = *state;
	uint64_t near;
	struct err e;

	reopen(f);
	near = size_of(f) + 300;
	set_mark(f, near);
	reopen(f);
	assert_int_equal(note(f, &e), 0);
	assert_true(get_mark(f) > near + STRIDE / 2);
}

static void
test_an_older_copy_is_read_and_not_written_to(void **state)
{
	struct fixture *f = *state;
	uint64_t size;
	struct err e;

	reopen(f);
	size = size_of(f);
	set_mark(f, size + STRIDE + 1);
	reopen(f);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(note(f, &e), -1);
		assert_ptr_equal(e.kind, &err_rolled_back);
	}
	assert_int_equal(size_of(f), size);
	assert_int_equal(get_mark(f), size + STRIDE + 1);

	/* The newer copy is back: here, the count is one that fits. */
	set_mark(f, size + STRIDE);
	reopen(f);
	assert_int_equal(note(f, &e), 0);
	assert_int_equal(size_of(f), size + 1);
}

static void
test_a_count_that_cannot_be_read_stops_writing(void **state)
{
	static const char *const bad[] = { "", "probity-signed/v1\n",
		"probity-signed/v1 ledger.example.com/other/sandbox 100\n",
		"probity-signed/v2 ledger.example.com/toy/sandbox 100\n" };
	struct fixture *f = *state;
	struct err e;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		write_mark(f, bad[i]);
		reopen(f);
		assert_int_equal(note(f, &e), -1);
		assert_ptr_equal(e.kind, &err_unavailable);
		assert_non_null(strstr(e.detail, "signed"));
	}
	assert_true(size_of(f) > 0);
}

static void
test_a_ledger_from_before_gets_its_count(void **state)
{
	struct fixture *f = *state;
	struct err e;

	assert_int_equal(remove(f->path), 0);
	reopen(f);
	assert_int_equal(note(f, &e), 0);
	assert_in_range(get_mark(f), size_of(f), size_of(f) + STRIDE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    test_the_count_is_ahead_by_a_stride_at_most, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    test_it_moves_ahead_of_the_writers, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_an_older_copy_is_read_and_not_written_to, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    test_a_count_that_cannot_be_read_stops_writing, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    test_a_ledger_from_before_gets_its_count, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
