/*
 * A ledger opened for one thread and for little: reading with the writer's
 * connection, beside other readings, and while something is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/toy_fixture.h"

static int
set_up(void **state)
{
	struct toy_fixture *f = toy_fixture_new(sizeof *f);

	f->toy.options.brief = true;
	toy_fixture_open(f);
	*state = f;
	return 0;
}

static struct reading
begin(struct toy_fixture *f)
{
	struct reading reading;
	struct err e = { 0 };

	if (ledger_read_begin(f->ledger, &reading, &e))
		fail_msg("%s", e.detail);
	return reading;
}

static uint64_t
size_in(struct reading *reading)
{
	struct err e = { 0 };
	uint64_t size = 0;

	assert_int_equal(ledger_read_size(reading, &size, &e), 0);
	return size;
}

static void
test_reads_and_writes_in_turn(void **state)
{
	struct toy_fixture *f = *state;

	for (uint64_t n = 1; n < 5; n++) {
		struct reading reading = begin(f);
		struct db *db = reading.db;

		assert_int_equal(size_in(&reading), n);
		ledger_read_end(&reading);
		toy_fixture_note(f, "a note");
		reading = begin(f);
		/* The same connection again and again. */
		assert_ptr_equal(reading.db, db);
		ledger_read_end(&reading);
	}
	assert_int_equal(toy_fixture_assert_verifies(f, f->key), 5);
}

static void
test_readings_side_by_side(void **state)
{
	struct toy_fixture *f = *state;
	struct reading one = begin(f), two = begin(f), three = begin(f);

	assert_ptr_not_equal(one.db, two.db);
	assert_ptr_not_equal(two.db, three.db);
	assert_int_equal(size_in(&three), 1);
	ledger_read_end(&one);
	ledger_read_end(&three);
	assert_int_equal(size_in(&two), 1);
	ledger_read_end(&two);
}

/* What is being read stays as it was; what is read next has the note. */
static void
test_written_while_read(void **state)
{
	struct toy_fixture *f = *state;
	struct reading before = begin(f), after;

	assert_int_equal(size_in(&before), 1);
	toy_fixture_note(f, "meanwhile");
	assert_int_equal(size_in(&before), 1);
	after = begin(f);
	assert_int_equal(size_in(&after), 2);
	ledger_read_end(&before);
	toy_fixture_note(f, "and again");
	assert_int_equal(size_in(&after), 2);
	ledger_read_end(&after);
	assert_int_equal(toy_fixture_size(f), 3);
	assert_int_equal(toy_fixture_assert_verifies(f, f->key), 3);
}

/* A command may read while it decides. */
static int
decide_reading(struct tx *tx, void *arg, struct err *e)
{
	struct reading reading = begin(arg);

	(void)tx;
	assert_int_equal(size_in(&reading), 1);
	ledger_read_end(&reading);
	return err_set(e, &err_conflict, "read enough");
}

static void
test_read_while_deciding(void **state)
{
	struct toy_fixture *f = *state;
	struct command c = {
		.decide = decide_reading, .arg = f, .arena = f->a
	};
	struct receipt r;
	struct err e = { 0 };

	assert_int_equal(ledger_submit(f->ledger, &c, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	toy_fixture_note(f, "goes on");
	assert_int_equal(toy_fixture_size(f), 2);
}

int
main(void)
{
#define BRIEF(test) \
	cmocka_unit_test_setup_teardown(test, set_up, toy_fixture_tear_down)
	const struct CMUnitTest tests[] = {
		BRIEF(test_reads_and_writes_in_turn),
		BRIEF(test_readings_side_by_side),
		BRIEF(test_written_while_read),
		BRIEF(test_read_while_deciding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
