#include "tests/unit/store/scratch.h"

#include <fcntl.h>

static struct repo *
fresh(const char *name)
{
	struct err e = { 0 };
	struct repo *r = NULL;

	assert_int_equal(repo_create(in_scratch(name), &e), 0);
	assert_int_equal(repo_open(in_scratch(name), &r, &e), 0);
	return r;
}

/* What a killed creation left goes, what one may be at work on stays. */
static void
removes_leftovers(void **state)
{
	struct repo *r;

	(void)state;
	assert_int_equal(
	    shell("mkdir -p $D/l.git.new-0123456789abcdef/objects/00 "
		  "$D/l.git.new-fedcba9876543210 $D/l.git.new-x; "
		  "echo x >$D/l.git.new-0123456789abcdef/HEAD; "
		  "touch -d '2 hours ago' $D/l.git.new-0123456789abcdef "
		  "$D/l.git.new-x"),
	    0);
	r = fresh("l.git");
	repo_close(r);
	assert_int_equal(
	    shell("cd $D && test \"$(ls -d l.git*)\" = \"$(printf "
		  "'l.git\nl.git.new-fedcba9876543210\nl.git.new-x')\""),
	    0);
	assert_int_equal(
	    shell("touch -d '2 hours ago' $D/l.git.new-fedcba9876543210"), 0);
	assert_int_equal(repo_open(in_scratch("l.git"), &r, NULL), 0);
	repo_close(r);
	assert_int_equal(shell("test ! -e $D/l.git.new-fedcba9876543210"), 0);
}

static void
creates_what_stock_git_takes(void **state)
{
	struct repo *r = fresh("l.git");
	struct err e = { 0 };
	struct oid o;
	bool exists = true;

	(void)state;
	assert_int_equal(repo_branch(r, &o, &exists, &e), 0);
	assert_false(exists);
	assert_string_equal(repo_path(r), in_scratch("l.git"));
	repo_close(r);
	assert_int_equal(shell("git -C $D/l.git fsck --strict"), 0);
	assert_int_equal(shell("git clone -q $D/l.git $D/empty"), 0);
	assert_int_equal(
	    shell("test $(ls $D/l.git/objects | grep -c '^[0-9a-f][0-9a-f]$') "
		  "= 256"),
	    0);
	assert_int_equal(shell("test \"$(ls $D)\" = \"$(printf "
			       "'empty\\nl.git\\nout.txt')\""),
	    0);
	assert_int_not_equal(shell("git -C $D/l.git repack -a -d"), 0);
	assert_int_not_equal(shell("git -C $D/l.git prune"), 0);
}

static void
refuses_what_is_there(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(mkdir(in_scratch("l.git"), 0700), 0);
	assert_int_equal(repo_create(in_scratch("l.git"), &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	assert_int_equal(rmdir(in_scratch("l.git")), 0);
	assert_int_equal(shell("test -z \"$(ls $D | grep new)\""), 0);
}

static void
checks_every_setting(void **state)
{
	static const char *const changes[] = {
		"gc.auto 1",
		"gc.packRefs true",
		"maintenance.auto true",
		"receive.autogc true",
		"http.receivepack true",
		"--unset extensions.preciousObjects",
		"--unset gc.auto",
		"--unset maintenance.auto",
		"core.bare false",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct repo *r = fresh("l.git");
		struct err e = { 0 };
		char line[256];

		repo_close(r);
		snprintf(line, sizeof(line), "git config -f $D/l.git/config %s",
		    changes[i]);
		assert_int_equal(shell(line), 0);
		r = NULL;
		assert_int_equal(repo_open(in_scratch("l.git"), &r, &e), -1);
		assert_ptr_equal(e.kind, &err_corrupt);
		assert_null(r);
		assert_int_equal(shell("rm -rf $D/l.git"), 0);
	}
}

/* Right, but not as they were made: libgit2 reads them. */
static void
settings_in_other_words(void **state)
{
	struct repo *r = fresh("l.git");
	struct err e = { 0 };
	struct oid tip;
	bool exists = true;

	(void)state;
	repo_close(r);
	assert_int_equal(shell("cd $D/l.git && git config -f config gc.auto 00 "
			       "&& git config -f config user.name Somebody"),
	    0);
	assert_int_equal(repo_open(in_scratch("l.git"), &r, &e), 0);
	assert_int_equal(repo_branch(r, &tip, &exists, &e), 0);
	assert_false(exists);
	repo_close(r);
}

static void
checks_head(void **state)
{
	struct repo *r = fresh("l.git");
	struct err e = { 0 };

	(void)state;
	repo_close(r);
	shell("echo 'ref: refs/heads/other' >$D/l.git/HEAD");
	assert_int_equal(repo_open(in_scratch("l.git"), &r, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
}

static void
absent_is_not_found(void **state)
{
	struct repo *r;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(repo_open(in_scratch("none"), &r, &e), -1);
	assert_ptr_equal(e.kind, &err_not_found);
}

/* Sizes about the borders of a stored block and of the header. */
static void
objects_round_trip(void **state)
{
	static const size_t sizes[] = { 0, 1, 511, 4096, 65534, 65535, 65536,
		131070, 131071, 1000000 };
	struct repo *r = fresh("l.git");
	struct arena *a = arena_new();
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *p = arena_alloc(a, sizes[i] + 1), line[256];
		char hex[OID_HEX + 1];
		struct object o;
		struct str got;

		for (size_t k = 0; k < sizes[i]; k++)
			p[k] = (char)(k * k >> 3);
		o = object_of(OBJECT_BLOB, (struct str){ p, sizes[i] });
		assert_false(repo_has(r, o.oid));
		assert_int_equal(repo_write(r, &o, 1, &e), 0);
		assert_int_equal(repo_write(r, &o, 1, &e), 0);
		assert_true(repo_has(r, o.oid));
		assert_int_equal(
		    repo_read(r, o.oid, OBJECT_BLOB, sizes[i], a, &got, &e), 0);
		assert_true(str_eq(got, o.bytes));
		oid_hex(o.oid, hex);
		snprintf(line, sizeof(line),
		    "test $(git -C $D/l.git cat-file blob %s | "
		    "git hash-object --stdin) = %s && "
		    "test $(stat -c %%a $D/l.git/objects/%.2s/%s) = 444",
		    hex, hex, hex, hex + 2);
		assert_int_equal(shell(line), 0);
	}
	assert_int_equal(shell("git -C $D/l.git fsck --strict"), 0);
	assert_int_equal(
	    shell("test -z \"$(find $D/l.git -name 'tmp_*')\""), 0);
	arena_free(a);
	repo_close(r);
}

static void
synced_blob_is_there(void **state)
{
	struct repo *r = fresh("l.git");
	struct err e = { 0 };
	struct object o = { .kind = OBJECT_BLOB, .bytes = STR("payload") };

	(void)state;
	assert_int_equal(repo_write_synced(r, &o, &e), 0);
	assert_true(repo_has(r, o.oid));
	assert_int_equal(repo_write_synced(r, &o, &e), 0);
	assert_int_equal(repo_sync(r, &e), 0);
	assert_int_equal(repo_unlink_loose(r, o.oid, &e), 0);
	assert_int_equal(repo_unlink_loose(r, o.oid, &e), 0);
	assert_false(repo_has(r, o.oid));
	repo_close(r);
}

static void
reading_refuses(void **state)
{
	struct repo *r = fresh("l.git");
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct object o = object_of(OBJECT_BLOB, STR("eleven here"));
	char hex[OID_HEX + 1], line[256];
	struct str got;

	(void)state;
	assert_int_equal(
	    repo_read(r, o.oid, OBJECT_BLOB, 100, a, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	assert_int_equal(repo_write(r, &o, 1, &e), 0);
	assert_int_equal(
	    repo_read(r, o.oid, OBJECT_TREE, 100, a, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	assert_int_equal(repo_read(r, o.oid, OBJECT_BLOB, 10, a, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_too_large);
	err_clear(&e);
	/* Torn in its middle, then empty, then another object's bytes. */
	oid_hex(o.oid, hex);
	snprintf(line, sizeof(line),
	    "F=$D/l.git/objects/%.2s/%s; chmod u+w $F; cp $F $D/x; "
	    "truncate -s 20 $F",
	    hex, hex + 2);
	assert_int_equal(shell(line), 0);
	assert_int_equal(
	    repo_read(r, o.oid, OBJECT_BLOB, 100, a, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	snprintf(line, sizeof(line), "truncate -s 0 $D/l.git/objects/%.2s/%s",
	    hex, hex + 2);
	assert_int_equal(shell(line), 0);
	assert_int_equal(
	    repo_read(r, o.oid, OBJECT_BLOB, 100, a, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	o.bytes = STR("another one"); /* under the first one's id */
	assert_int_equal(repo_unlink_loose(r, o.oid, &e), 0);
	assert_int_equal(repo_write(r, &o, 1, &e), 0);
	assert_int_equal(
	    repo_read(r, o.oid, OBJECT_BLOB, 100, a, &got, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	arena_free(a);
	repo_close(r);
}

/* git gc removes empty directories; nobody may stumble over that. */
static void
mends_fan_out(void **state)
{
	struct repo *r = fresh("l.git");
	struct err e = { 0 };
	struct object o = object_of(OBJECT_BLOB, STR("x"));

	(void)state;
	assert_int_equal(shell("rmdir $D/l.git/objects/[0-9a-f][0-9a-f]"), 0);
	assert_int_equal(repo_write(r, &o, 1, &e), 0);
	assert_true(repo_has(r, o.oid));
	repo_close(r);
	assert_int_equal(repo_open(in_scratch("l.git"), &r, &e), 0);
	assert_int_equal(shell("test $(ls $D/l.git/objects | wc -l) = 258"), 0);
	repo_close(r);
}

static void
clones_are_read(void **state)
{
	struct repo *r = fresh("l.git"), *c = NULL;
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct object o[3];
	struct oid tip;
	struct str got;
	bool exists;

	(void)state;
	batch_of(a, NULL, 0, 100, o);
	assert_int_equal(repo_write(r, o, 3, &e), 0);
	assert_int_equal(repo_move_branch(r, NULL, o[2].oid, false, &e), 0);
	assert_int_equal(shell("git clone -q --no-local $D/l.git $D/work && "
			       "git clone -q --mirror $D/l.git $D/bare"),
	    0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(repo_open_for_reading(
				     in_scratch(i ? "work" : "bare"), &c, &e),
		    0);
		assert_int_equal(repo_branch(c, &tip, &exists, &e), 0);
		assert_true(exists && oid_eq(tip, o[2].oid));
		assert_int_equal(
		    repo_read(c, o[0].oid, OBJECT_BLOB, 4096, a, &got, &e), 0);
		assert_true(str_eq(got, o[0].bytes));
		repo_close(c);
	}
	/* What suffices for reading does not for writing. */
	assert_int_equal(repo_open(in_scratch("bare"), &c, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	arena_free(a);
	repo_close(r);
}

/* `git repack -a -d` is refused, plain packing is not: readers that were open
 * before must find the objects. */
static void
reads_after_foreign_packing(void **state)
{
	struct repo *r = fresh("l.git"), *reader = NULL;
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct object o[3];
	struct str got;

	(void)state;
	batch_of(a, NULL, 0, 100, o);
	assert_int_equal(repo_open(in_scratch("l.git"), &reader, &e), 0);
	assert_int_equal(repo_write(r, o, 3, &e), 0);
	assert_int_equal(repo_move_branch(r, NULL, o[2].oid, false, &e), 0);
	assert_int_equal(shell("git -C $D/l.git repack -q -a"), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(repo_unlink_loose(r, o[i].oid, &e), 0);
	for (int i = 0; i < 3; i++) {
		assert_true(repo_has(reader, o[i].oid));
		assert_int_equal(
		    repo_read(reader, o[i].oid, o[i].kind, 4096, a, &got, &e),
		    0);
		assert_true(str_eq(got, o[i].bytes));
	}
	repo_close(reader);
	repo_close(r);
	arena_free(a);
}

static void
hex_is_strict(void **state)
{
	struct oid o;
	char hex[OID_HEX + 1];
	struct str good = STR("0123456789abcdef0123456789abcdef01234567");

	(void)state;
	assert_true(oid_from_hex(good, &o));
	oid_hex(o, hex);
	assert_true(str_is(good, hex));
	assert_false(
	    oid_from_hex(STR("0123456789ABCDEF0123456789abcdef01234567"), &o));
	assert_false(oid_from_hex(str_slice(good, 0, 39), &o));
	assert_false(
	    oid_from_hex(STR("g123456789abcdef0123456789abcdef01234567"), &o));
	/* Known from git: the empty blob and the empty tree. */
	assert_int_equal(repo_oid(OBJECT_BLOB, STR(""), &o, NULL), 0);
	oid_hex(o, hex);
	assert_string_equal(hex, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
	assert_int_equal(repo_oid(OBJECT_TREE, STR_NONE, &o, NULL), 0);
	oid_hex(o, hex);
	assert_string_equal(hex, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(removes_leftovers),
		CASE(creates_what_stock_git_takes),
		CASE(refuses_what_is_there),
		CASE(checks_every_setting),
		CASE(settings_in_other_words),
		CASE(checks_head),
		CASE(absent_is_not_found),
		CASE(objects_round_trip),
		CASE(synced_blob_is_there),
		CASE(reading_refuses),
		CASE(mends_fan_out),
		CASE(clones_are_read),
		CASE(reads_after_foreign_packing),
		CASE(hex_is_strict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
