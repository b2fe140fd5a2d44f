/*
 * Backups: taken while the ledger is in use, taken again, put back, and refused
 * where they are not what is known of the ledger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/write/backup.h"
#include "tests/support/toy_fixture.h"

struct fixture {
	struct toy_fixture base;
	struct toy other;
	struct backup_watch watch;
	char backup[400], moved[400];
};

static int
setup(void **state)
{
	struct fixture *f = toy_fixture_new(sizeof *f);
	const char *dir = f->base.toy.dir;

	snprintf(f->backup, sizeof f->backup, "%s/backup.git", dir);
	snprintf(f->moved, sizeof f->moved, "%s/moved.git", dir);
	toy_fixture_open(&f->base);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	if (f->other.dir[0])
		toy_remove(&f->other);
	return toy_fixture_tear_down(state);
}

static struct backup_report
back_up(struct fixture *f)
{
	struct backup_report r;
	struct err e = { 0 };

	if (ledger_backup(&f->base.toy.options, f->backup, &f->watch, &r, &e))
		fail_msg("ledger_backup: %s", e.detail);
	return r;
}

static const struct err_kind *
put_back(struct fixture *f, struct str kept)
{
	struct backup_report r;
	struct err e = { 0 };
	int rc = ledger_restore(
	    &f->base.toy.options, f->backup, kept, &f->watch, &r, &e);

	assert_int_equal(rc == 0, e.kind == NULL);
	if (rc)
		print_message("%s\n", e.detail);
	return e.kind;
}

static void
lose_repository(struct fixture *f)
{
	toy_fixture_close(&f->base);
	assert_int_equal(rename(f->base.repo, f->moved), 0);
}

static void
test_a_backup_grows_with_its_ledger(void **state)
{
	struct fixture *f = *state;
	struct backup_report r;

	toy_fixture_notes(&f->base, 3);
	r = back_up(f);
	assert_int_equal(r.verify.size, 4);
	assert_int_equal(r.commits, r.verify.batches);
	assert_int_equal(back_up(f).commits, 0);
	toy_fixture_notes(&f->base, 2);
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

	toy_fixture_notes(&f->base, 5);
	back_up(f);
	before = toy_hash_view(f->base.toy.ledger_dir);
	lose_repository(f);
	assert_null(put_back(f, STR_NONE));
	assert_true(digest_eq(before, toy_hash_view(f->base.toy.ledger_dir)));
	toy_fixture_open(&f->base);
	toy_fixture_notes(&f->base, 1);
	assert_int_equal(back_up(f).verify.size, 7);
}

static void
test_a_ledger_that_is_there_stays(void **state)
{
	struct fixture *f = *state;

	toy_fixture_notes(&f->base, 1);
	back_up(f);
	toy_fixture_close(&f->base);
	assert_ptr_equal(put_back(f, STR_NONE), &err_conflict);
	toy_fixture_open(&f->base);
}

static void
test_a_backup_shorter_than_what_is_known(void **state)
{
	struct fixture *f = *state;
	struct str kept;
	struct backup_report r;

	toy_fixture_notes(&f->base, 2);
	back_up(f);
	toy_fixture_notes(&f->base, 1);
	lose_repository(f);
	/* The read model knows of one event more. */
	assert_ptr_equal(put_back(f, STR_NONE), &err_backup_old);
	assert_int_equal(access(f->base.repo, F_OK), -1);
	toy_fixture_remove_view(&f->base);
	/* Nobody knows now, but for who kept a checkpoint. */
	assert_int_equal(rename(f->moved, f->base.repo), 0);
	toy_fixture_open(&f->base);
	assert_int_equal(
	    ledger_backup(&f->base.toy.options,
		arena_printf(f->base.a, "%s/newer.git", f->base.toy.dir),
		&f->watch, &r, NULL),
	    0);
	kept = str_from(r.verify.checkpoint);
	lose_repository(f);
	toy_fixture_remove_view(&f->base);
	assert_ptr_equal(put_back(f, kept), &err_backup_old);
	assert_ptr_equal(put_back(f, STR("no note")), &err_invalid);
	assert_null(put_back(f, STR_NONE));
	toy_fixture_open(&f->base);
}

static void
test_a_backup_shorter_than_the_keys_count(void **state)
{
	struct fixture *f = *state;
	char *path = arena_printf(f->base.a, "%s/signed", f->base.toy.keys_dir);
	struct err e = { 0 };

	toy_fixture_notes(&f->base, 2);
	back_up(f);
	lose_repository(f);
	toy_fixture_remove_view(&f->base);
	assert_int_equal(io_write_file(path,
			     str_from(arena_printf(f->base.a,
				 "probity-signed/v1 %.*s 100000\n",
				 STR_ARGS(f->base.toy.options.origin))),
			     0600, &e),
	    0);
	assert_ptr_equal(put_back(f, STR_NONE), &err_backup_old);
	assert_int_equal(access(f->base.repo, F_OK), -1);
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
	assert_ptr_equal(e.kind, &err_backup_unusable);
	lose_repository(f);
	toy_fixture_remove_view(&f->base);
	snprintf(
	    f->backup, sizeof f->backup, "%s/ledger.git", f->other.ledger_dir);
	assert_ptr_equal(put_back(f, STR_NONE), &err_backup_unusable);
	assert_int_equal(access(f->base.repo, F_OK), -1);
}

static void
test_a_folder_that_is_no_repository(void **state)
{
	struct fixture *f = *state;
	struct backup_report r;
	struct err e = { 0 };

	assert_int_equal(io_make_dirs(f->backup, 0700, &e), 0);
	assert_int_equal(
	    ledger_backup(&f->base.toy.options, f->backup, &f->watch, &r, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_backup_unusable);
	lose_repository(f);
	assert_ptr_equal(put_back(f, STR_NONE), &err_backup_unusable);
	assert_int_equal(access(f->base.repo, F_OK), -1);
}

/* As `jq -r .checkpoint` writes it: with a line end of its own. */
static void
test_a_kept_checkpoint_with_a_line_end_more(void **state)
{
	struct fixture *f = *state;
	struct backup_report r = back_up(f);
	struct str kept = arena_strf(f->base.a, "%s\n", r.verify.checkpoint);

	lose_repository(f);
	assert_ptr_equal(
	    put_back(f, arena_strf(f->base.a, "%.*s\n", STR_ARGS(kept))),
	    &err_invalid);
	assert_null(put_back(f, kept));
}

/* The backup's newest events are not this ledger's: somebody wrote to the old
 * copy. */
static void
test_a_backup_with_another_end(void **state)
{
	struct fixture *f = *state;
	struct backup_report r;
	struct err e = { 0 };

	toy_fixture_notes(&f->base, 2);
	back_up(f);
	lose_repository(f);
	toy_fixture_remove_view(&f->base);
	assert_null(put_back(f, STR_NONE));
	toy_fixture_open(&f->base);
	toy_fixture_notes(&f->base, 1);
	back_up(f);
	/* The first history again, with another third note. */
	toy_fixture_close(&f->base);
	(void)io_remove_tree(f->base.repo);
	assert_int_equal(rename(f->moved, f->base.repo), 0);
	toy_fixture_remove_view(&f->base);
	toy_fixture_open(&f->base);
	toy_fixture_notes(&f->base, 1);
	assert_int_equal(
	    ledger_backup(&f->base.toy.options, f->backup, &f->watch, &r, &e),
	    -1);
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
		TEST(test_a_folder_that_is_no_repository),
		TEST(test_a_kept_checkpoint_with_a_line_end_more),
		TEST(test_a_backup_with_another_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
