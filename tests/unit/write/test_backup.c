/*
 * Backups: taken while the ledger is in use, taken again, put back, and refused
 * where they are not what is known of the ledger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/write/backup.h"
#include "tests/support/toy.h"

struct fixture {
	struct toy toy, other;
	struct ledger *ledger;
	struct arena *a;
	struct backup_watch watch;
	char backup[400], repo[400], moved[400];
};

static void
open_ledger(struct fixture *f)
{
	struct err e = { 0 };

	if (ledger_open(&f->toy.options, &f->ledger, &e))
		fail_msg("ledger_open: %s", e.detail);
}

static void
close_ledger(struct fixture *f)
{
	ledger_close(f->ledger);
	f->ledger = NULL;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	toy_create(&f->toy, NULL);
	f->a = arena_new();
	snprintf(f->backup, sizeof f->backup, "%s/backup.git", f->toy.dir);
	snprintf(f->repo, sizeof f->repo, "%s/ledger.git", f->toy.ledger_dir);
	snprintf(f->moved, sizeof f->moved, "%s/moved.git", f->toy.dir);
	open_ledger(f);
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
	if (f->other.dir[0])
		toy_remove(&f->other);
	free(f);
	return 0;
}

static void
note(struct fixture *f, int n)
{
	struct err e = { 0 };
	struct receipt r;

	for (int i = 0; i < n; i++)
		if (toy_note(f->ledger, f->a, STR("a note"), &r, &e))
			fail_msg("toy_note: %s", e.detail);
}

static struct backup_report
back_up(struct fixture *f)
{
	struct backup_report r;
	struct err e = { 0 };

	if (ledger_backup(&f->toy.options, f->backup, &f->watch, &r, &e))
		fail_msg("ledger_backup: %s", e.detail);
	return r;
}

static const struct err_kind *
put_back(struct fixture *f, struct str kept)
{
	struct backup_report r;
	struct err e = { 0 };
	int rc =
	    ledger_restore(&f->toy.options, f->backup, kept, &f->watch, &r, &e);

	assert_int_equal(rc == 0, e.kind == NULL);
	if (rc)
		print_message("%s\n", e.detail);
	return e.kind;
}

static void
lose_repository(struct fixture *f)
{
	close_ledger(f);
	assert_int_equal(rename(f->repo, f->moved), 0);
}

static void
lose_read_model(struct fixture *f)
{
	assert_int_equal(
	    unlink(arena_printf(f->a, "%s/state.db", f->toy.ledger_dir)), 0);
}

static void
test_a_backup_grows_with_its_ledger(void **state)
{
	struct fixture *f = *state;
	struct backup_report r;

	note(f, 3);
	r = back_up(f);
	assert_int_equal(r.verify.size, 4);
	assert_int_equal(r.commits, r.verify.batches);
	assert_int_equal(back_up(f).commits, 0);
	note(f, 2);
	r = back_up(f);
	assert_int_equal(r.commits, 2);
	assert_int_equal(r.verify.size, 6);
	assert_true(r.verify.good);
}

static void
test_what_is_put_back_is_the_same(void **state)
{
	struct fixture *f = *state;
	struct digest before;

	note(f, 5);
	back_up(f);
	before = toy_hash_view(f->toy.ledger_dir);
	lose_repository(f);
	assert_null(put_back(f, STR_NONE));
	assert_true(digest_eq(before, toy_hash_view(f->toy.ledger_dir)));
	open_ledger(f);
	note(f, 1);
	assert_int_equal(back_up(f).verify.size, 7);
}

static void
test_a_ledger_that_is_there_stays(void **state)
{
	struct fixture *f = *state;

	note(f, 1);
	back_up(f);
	close_ledger(f);
	assert_ptr_equal(put_back(f, STR_NONE), &err_conflict);
	open_ledger(f);
}

static void
test_a_backup_shorter_than_what_is_known(void **state)
{
	struct fixture *f = *state;
	struct str kept;
	struct backup_report r;

	note(f, 2);
	back_up(f);
	note(f, 1);
	lose_repository(f);
	/* The read model knows of one event more. */
	assert_ptr_equal(put_back(f, STR_NONE), &err_rolled_back);
	assert_int_equal(access(f->repo, F_OK), -1);
	lose_read_model(f);
	/* Nobody knows now, but for who kept a checkpoint. */
	assert_int_equal(rename(f->moved, f->repo), 0);
	open_ledger(f);
	assert_int_equal(ledger_backup(&f->toy.options,
			     arena_printf(f->a, "%s/newer.git", f->toy.dir),
			     &f->watch, &r, NULL),
	    0);
	kept = str_from(r.verify.checkpoint);
	lose_repository(f);
	lose_read_model(f);
	assert_ptr_equal(put_back(f, kept), &err_rolled_back);
	assert_ptr_equal(put_back(f, STR("no note")), &err_invalid);
	assert_null(put_back(f, STR_NONE));
	open_ledger(f);
}

static void
test_a_backup_shorter_than_the_keys_count(void **state)
{
	struct fixture *f = *state;
	char *path = arena_printf(f->a, "%s/signed", f->toy.keys_dir);
	struct err e = { 0 };

	note(f, 2);
	back_up(f);
	lose_repository(f);
	lose_read_model(f);
	assert_int_equal(
	    io_write_file(path,
		str_from(arena_printf(f->a, "probity-signed/v1 %.*s 100000\n",
		    STR_ARGS(f->toy.options.origin))),
		0600, &e),
	    0);
	assert_ptr_equal(put_back(f, STR_NONE), &err_rolled_back);
	assert_int_equal(access(f->repo, F_OK), -1);
}

static void
test_another_ledgers_backup(void **state)
{
	struct fixture *f = *state;
	struct backup_report r;
	struct err e = { 0 };

	toy_create(&f->other, NULL);
	back_up(f);
	assert_int_equal(
	    ledger_backup(&f->other.options, f->backup, &f->watch, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	lose_repository(f);
	lose_read_model(f);
	snprintf(
	    f->backup, sizeof f->backup, "%s/ledger.git", f->other.ledger_dir);
	assert_ptr_equal(put_back(f, STR_NONE), &err_corrupt);
	assert_int_equal(access(f->repo, F_OK), -1);
}

/* The backup's newest events are not this ledger's: somebody wrote to the old
 * copy. */
static void
test_a_backup_with_another_end(void **state)
{
	struct fixture *f = *state;
	struct backup_report r;
	struct err e = { 0 };

	note(f, 2);
	back_up(f);
	lose_repository(f);
	lose_read_model(f);
	assert_null(put_back(f, STR_NONE));
	open_ledger(f);
	note(f, 1);
	back_up(f);
	/* The first history again, with another third note. */
	close_ledger(f);
	repo_remove(f->repo);
	assert_int_equal(rename(f->moved, f->repo), 0);
	lose_read_model(f);
	open_ledger(f);
	note(f, 1);
	assert_int_equal(
	    ledger_backup(&f->toy.options, f->backup, &f->watch, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_rolled_back);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_backup_grows_with_its_ledger),
		TEST(test_what_is_put_back_is_the_same),
		TEST(test_a_ledger_that_is_there_stays),
		TEST(test_a_backup_shorter_than_what_is_known),
		TEST(test_a_backup_shorter_than_the_keys_count),
		TEST(test_another_ledgers_backup),
		TEST(test_a_backup_with_another_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
