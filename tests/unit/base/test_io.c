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

static struct arena *arena;
static char folder[] = "/tmp/probity-io-XXXXXX";

static int
setup(void **state)
{
	(void)state;
	arena = arena_new();
	return mkdtemp(folder) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return io_remove_tree(folder);
}

static const char *
in_folder(const char *name)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

static void
expect_content(const char *path, struct str want)
{
	struct err e = { 0 };
	struct str got;

	assert_int_equal(io_read_file(arena, path, 100000, &got, &e), 0);
	assert_true(str_eq(got, want));
}

static void
test_write_and_read(void **state)
{
	const char *path = in_folder("file");
	struct err e = { 0 };
	struct str got;
	struct stat st;
	char *large = arena_alloc(arena, 70000);

	(void)state;
	memset(large, 'x', 70000);
	assert_int_equal(io_write_file(path, STR("a\0b"), 0600, &e), 0);
	expect_content(path, STR("a\0b"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(
	    io_write_file(path, (struct str){ large, 70000 }, 0644, &e), 0);
	expect_content(path, (struct str){ large, 70000 });
	assert_int_equal(io_read_file(arena, path, 70000, &got, &e), 0);
	assert_int_equal(io_read_file(arena, path, 69999, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_too_large);
	assert_int_equal(io_write_file(path, STR(""), 0644, NULL), 0);
	expect_content(path, STR(""));
}

static void
test_missing(void **state)
{
	struct err e = { 0 };
	struct str got;

	(void)state;
	assert_int_equal(
	    io_read_file(arena, in_folder("none"), 10, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_not_found);
	err_clear(&e);
	assert_int_equal(io_read_file(arena, folder, 10, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
	err_clear(&e);
	assert_int_equal(
	    io_write_file(in_folder("none/file"), STR("x"), 0600, &e), -1);
	assert_non_null(strstr(e.detail, "No such file"));
}

static void
test_create(void **state)
{
	const char *path = in_folder("once");
	struct err e = { 0 };

	(void)state;
	assert_int_equal(io_create_file(path, STR("one"), 0600, &e), 0);
	assert_int_equal(io_create_file(path, STR("two"), 0600, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	expect_content(path, STR("one"));
}

/* No temporary is left behind, whatever happened. */
static void
test_nothing_left(void **state)
{
	char command[128];

	(void)state;
	assert_int_equal(
	    io_write_file(in_folder("dir/"), STR("x"), 0600, NULL), -1);
	assert_int_equal(io_make_dirs(in_folder("taken/x"), 0700, NULL), 0);
	assert_int_equal(
	    io_write_file(in_folder("taken"), STR("x"), 0600, NULL), -1);
	snprintf(command, sizeof command,
	    "test -z \"$(find %s -name '*.tmp-*')\"", folder);
	assert_int_equal(system(command), 0);
}

static void
test_dirs(void **state)
{
	const char *path = in_folder("a//b/c/");
	struct err e = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(io_make_dirs(path, 0700, &e), 0);
	assert_int_equal(io_make_dirs(path, 0700, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(io_fsync_dir(path, &e), 0);
	assert_int_equal(
	    io_write_file(in_folder("plain"), STR("x"), 0600, &e), 0);
	assert_int_equal(io_make_dirs(in_folder("plain/x"), 0700, &e), -1);
	err_clear(&e);
	assert_int_equal(io_make_dirs("", 0700, &e), -1);
	err_clear(&e);
	assert_int_equal(io_fsync_dir(in_folder("plain"), &e), -1);
}

static void
test_all_bytes(void **state)
{
	int fd = open(in_folder("bytes"), O_RDWR | O_CREAT, 0600);
	char got[8];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "abcdefgh", 8), 0);
	assert_int_equal(io_pwrite_all(fd, "XY", 2, 3), 0);
	assert_int_equal(io_pread_all(fd, got, 8, 0), 0);
	assert_memory_equal(got, "abcXYfgh", 8);
	assert_int_equal(io_pread_all(fd, got, 4, 5), -1);
	assert_int_equal(errno, ENODATA);
	close(fd);
	assert_int_equal(io_pread_all(fd, got, 1, 0), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(io_pwrite_all(fd, got, 1, 0), -1);
	assert_int_equal(io_write_all(fd, got, 1), -1);
}

/* A full device is told from other faults. */
static void
test_no_space(void **state)
{
	struct err e = { 0 };
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "x", 1), -1);
	err_errno(&e, &err_internal, "write");
	assert_ptr_equal(e.kind, &err_no_space);
	close(fd);
}

static void
test_filesystem(void **state)
{
	struct err e = { 0 };
	uint64_t bytes = 0;

	(void)state;
	assert_int_equal(io_free_bytes(folder, &bytes, &e), 0);
	assert_true(bytes > 0);
	assert_int_equal(io_free_bytes(in_folder("none"), &bytes, &e), -1);
	err_clear(&e);
	assert_int_equal(io_refuse_network(folder, &e), 0);
	assert_int_equal(io_refuse_network(in_folder("none"), &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_dirs),
		cmocka_unit_test(test_all_bytes),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_filesystem),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
