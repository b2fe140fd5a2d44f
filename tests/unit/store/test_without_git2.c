/*
 * What a write needs of a repository, and what goes wrong with loose objects:
 * all of it without libgit2, whose loading a plain CGI program would feel. A
 * program of its own, since a library once loaded stays.
 */
#include "tests/unit/store/scratch.h"

#include <dlfcn.h>
#include <git2.h>

#define GIT2_FILE "libgit2.so." LIBGIT2_SOVERSION

static void
assert_not_loaded(void)
{
	assert_null(dlopen(GIT2_FILE, RTLD_LAZY | RTLD_NOLOAD));
}

static struct repo *
fresh(void)
{
	struct repo *r = NULL;
	struct err e = { 0 };

	if (repo_create(in_scratch("l.git"), &e) ||
	    repo_open(in_scratch("l.git"), &r, &e))
		fail_msg("%s", e.detail);
	return r;
}

/* object_of looks for collisions, which is libgit2's work. */
static struct object
plain_object(enum object_kind kind, struct str bytes)
{
	return (struct object){ kind, bytes, repo_oid_plain(kind, bytes) };
}

static void
writes_and_reads(void **state)
{
	struct repo *r = fresh();
	struct object o = plain_object(OBJECT_COMMIT, STR("one"));
	struct object next = plain_object(OBJECT_COMMIT, STR("two"));
	struct arena *arena = arena_new();
	char hex[OID_HEX + 1], line[128];
	struct err e = { 0 };
	struct oid tip;
	struct str got;
	bool exists;

	(void)state;
	assert_int_equal(repo_write(r, &o, 1, &e), 0);
	assert_true(repo_has(r, o.oid));
	assert_int_equal(
	    repo_read(r, o.oid, OBJECT_COMMIT, 100, arena, &got, &e), 0);
	assert_true(str_eq(got, o.bytes));
	/* A branch that is not there may be packed: that is libgit2's to say.
	 */
	oid_hex(o.oid, hex);
	snprintf(line, sizeof line, "echo %s >$D/l.git/refs/heads/main", hex);
	assert_int_equal(shell(line), 0);
	assert_int_equal(repo_write(r, &next, 1, &e), 0);
	assert_int_equal(repo_move_branch(r, &o.oid, next.oid, false, &e), 0);
	assert_int_equal(repo_branch(r, &tip, &exists, &e), 0);
	assert_true(exists && oid_eq(tip, next.oid));
	repo_close(r);
	arena_free(arena);
	assert_not_loaded();
}

static void
refuses(void **state)
{
	struct repo *r = fresh();
	struct object o = plain_object(OBJECT_BLOB, STR("a content"));
	struct arena *arena = arena_new();
	char hex[OID_HEX + 1];
	struct err e = { 0 };
	struct str got;

	(void)state;
	oid_hex(o.oid, hex);
	assert_int_equal(repo_write(r, &o, 1, &e), 0);
	assert_int_equal(
	    repo_read(r, o.oid, OBJECT_TREE, 100, arena, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	assert_non_null(strstr(e.detail, hex));
	err_clear(&e);
	assert_int_equal(
	    repo_read(r, o.oid, OBJECT_BLOB, 8, arena, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_too_large);
	assert_non_null(strstr(e.detail, hex));
	repo_close(r);
	arena_free(arena);
	assert_not_loaded();
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(writes_and_reads),
		CASE(refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
