#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/private.h"

static char folder[] = "/tmp/probity-private-XXXXXX";

static int
setup(void **state)
{
	(void)state;
	umask(022);
	return mkdtemp(folder) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	return io_remove_tree(folder);
}

/* Borrowed until the next but one call. */
static const char *
in(const char *directory, const char *name)
{
	static char paths[2][128];
	static int which;

	which = !which;
	snprintf(paths[which], sizeof paths[which], "%s/%s/%s", folder,
	    directory, name);
	return paths[which];
}

static void
make_directory(const char *name, mode_t mode)
{
	assert_int_equal(mkdir(in(name, ""), 0700), 0);
	assert_int_equal(chmod(in(name, ""), mode), 0);
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void
make_file(const char *path, mode_t mode)
{
	int fd = private_open(
	    AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	close(fd);
}

static void
test_a_directory_for_a_group_hands_it_down(void **state)
{
	struct err e = { 0 };

	(void)state;
	make_directory("group", 02770);
	make_file(in("group", "lock"), 0600);
	assert_int_equal(mode_of(in("group", "lock")), 0660);
	assert_int_equal(
	    private_mkdir(AT_FDCWD, in("group", "below"), 0777), 0);
	assert_int_equal(mode_of(in("group", "below")), 02770);
	assert_int_equal(io_make_dirs(in("group", "a/b"), 0700, &e), 0);
	assert_int_equal(mode_of(in("group", "a/b")), 02770);
	assert_int_equal(
	    io_write_file(in("group", "a/b/c"), STR("x"), 0600, &e), 0);
	assert_int_equal(mode_of(in("group", "a/b/c")), 0660);
	private_touch(in("group", "state.db"));
	assert_int_equal(mode_of(in("group", "state.db")), 0660);
}

/* What is not to be written is not, by the group either. */
static void
test_only_what_the_owner_may(void **state)
{
	(void)state;
	make_directory("objects", 0770);
	assert_int_equal(
	    private_mode(AT_FDCWD, in("objects", "x"), 0444), 0444);
	assert_int_equal(
	    private_mode(AT_FDCWD, in("objects", "x"), 0400), 0440);
}

static void
test_other_directories_are_as_before(void **state)
{
	static const mode_t modes[] = { 0700, 0750, 0755, 0775, 01777, 0771 };
	char name[16];

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		snprintf(name, sizeof name, "mode%zu", i);
		make_directory(name, modes[i]);
		assert_false(private_is_shared(AT_FDCWD, in(name, "lock")));
		make_file(in(name, "lock"), 0600);
		assert_int_equal(mode_of(in(name, "lock")), 0600);
		assert_int_equal(
		    private_mkdir(AT_FDCWD, in(name, "below"), 0777), 0);
		assert_int_equal(mode_of(in(name, "below")), 0755);
		private_touch(in(name, "state.db"));
		assert_int_equal(access(in(name, "state.db"), F_OK), -1);
	}
}

static void
test_below_an_open_directory(void **state)
{
	int dir;

	(void)state;
	make_directory("opened", 0770);
	dir = open(in("opened", ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_true(private_is_shared(dir, "name"));
	assert_int_equal(private_mkdir(dir, "refs", 0777), 0);
	assert_int_equal(private_mkdir(dir, "refs/heads", 0777), 0);
	assert_int_equal(mode_of(in("opened", "refs/heads")), 0770);
	close(dir);
}

static void
test_as_open(void **state)
{
	int flags = O_RDWR | O_CREAT | O_CLOEXEC, fd;

	(void)state;
	make_directory("again", 0770);
	make_file(in("again", "file"), 0600);
	assert_int_equal(chmod(in("again", "file"), 0640), 0);
	fd = private_open(AT_FDCWD, in("again", "file"), flags, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(mode_of(in("again", "file")), 0640);
	assert_int_equal(
	    private_open(AT_FDCWD, in("again", "file"), flags | O_EXCL, 0600),
	    -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(
	    private_open(AT_FDCWD, in("again", "none"), O_RDWR, 0600), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(
	    private_open(AT_FDCWD, in("nowhere", "file"), flags, 0600), -1);
	assert_int_equal(errno, ENOENT);
}

/* Of groups: users.test.mjs, as several users. */
static void
test_a_directory_that_others_may_write_in(void **state)
{
	static const mode_t good[] = { 0700, 0755, 0770, 02770, 0775 };
	static const mode_t bad[] = { 0777, 0702, 01777 };
	struct err e = { 0 };

	(void)state;
	make_directory("keys", 0700);
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(chmod(in("keys", ""), good[i]), 0);
		assert_int_equal(private_check(in("keys", ""), &e), 0);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(chmod(in("keys", ""), bad[i]), 0);
		assert_int_equal(private_check(in("keys", ""), &e), -1);
		assert_ptr_equal(e.kind, &err_unavailable);
		assert_non_null(strstr(e.detail, "chmod 0700"));
		e = (struct err){ 0 };
	}
	assert_int_equal(private_check(in("nowhere", ""), &e), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_directory_for_a_group_hands_it_down),
		cmocka_unit_test(test_only_what_the_owner_may),
		cmocka_unit_test(test_other_directories_are_as_before),
		cmocka_unit_test(test_below_an_open_directory),
		cmocka_unit_test(test_as_open),
		cmocka_unit_test(test_a_directory_that_others_may_write_in),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
