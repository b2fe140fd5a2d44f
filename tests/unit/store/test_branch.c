#include "tests/unit/store/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>

static struct repo *r;
static struct arena *arena;
static struct object batch[3];

static int
make(void **state)
{
	struct err e = { 0 };

	if (scratch_make(state) || repo_create(in_scratch("l.git"), &e) ||
	    repo_open(in_scratch("l.git"), &r, &e))
		return -1;
	arena = arena_new();
	batch_of(arena, NULL, 0, 100, batch);
	return repo_write(r, batch, 3, &e);
}

static int
unmake(void **state)
{
	repo_close(r);
	arena_free(arena);
	return scratch_remove(state);
}

/* The next batch on top of the last, written. */
static struct oid
next(unsigned number)
{
	struct oid parent = batch[2].oid;
	struct err e = { 0 };

	batch_of(arena, &parent, number, 100, batch);
	assert_int_equal(repo_write(r, batch, 3, &e), 0);
	return batch[2].oid;
}

static void
assert_branch(struct oid want)
{
	struct err e = { 0 };
	struct oid at;
	bool exists;

	assert_int_equal(repo_branch(r, &at, &exists, &e), 0);
	assert_true(exists && oid_eq(at, want));
}

static void
compares_and_swaps(void **state)
{
	struct oid first = batch[2].oid, second = next(1), third = next(2);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(repo_move_branch(r, NULL, first, false, &e), 0);
	assert_branch(first);
	assert_int_equal(repo_move_branch(r, &first, second, false, &e), 0);
	assert_branch(second);
	assert_int_equal(repo_move_branch(r, &first, third, false, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	err_clear(&e);
	assert_int_equal(repo_move_branch(r, &first, third, true, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	err_clear(&e);
	assert_int_equal(repo_move_branch(r, NULL, third, false, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	err_clear(&e);
	assert_branch(second);
	/* Where it is already: that is success, whoever did it. */
	assert_int_equal(repo_move_branch(r, &first, second, false, &e), 0);
	assert_int_equal(shell("git -C $D/l.git pack-refs --all"), 0);
	assert_branch(second);
	assert_int_equal(repo_move_branch(r, &second, third, false, &e), 0);
	assert_branch(third);
	assert_int_equal(shell("git -C $D/l.git fsck --strict"), 0);
	assert_int_equal(shell("test ! -e $D/l.git/logs"), 0);
}

static void
torn_reference(void **state)
{
	static const char *const tears[] = {
		": >$F",
		"printf 0123456789 >$F",
		"head -c 41 /dev/zero >$F",
		"echo 'ref: refs/heads/other' >$F",
	};
	struct oid before = batch[2].oid, after = next(1);
	struct err e = { 0 };
	struct oid at;
	bool exists;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(tears) / sizeof(tears[0]); i++) {
		char line[256];
		const struct oid *from = i % 2 ? &before : NULL;

		snprintf(line, sizeof(line), "F=$D/l.git/refs/heads/main; %s",
		    tears[i / 2]);
		assert_int_equal(shell(line), 0);
		assert_int_equal(repo_branch(r, &at, &exists, &e), -1);
		assert_ptr_equal(e.kind, &err_corrupt);
		err_clear(&e);
		assert_int_equal(
		    repo_move_branch(r, from, after, false, &e), -1);
		assert_ptr_equal(e.kind, &err_corrupt);
		err_clear(&e);
		assert_int_equal(repo_move_branch(r, from, after, true, &e), 0);
		assert_branch(after);
	}
	assert_int_equal(
	    shell("test $(cat $D/l.git/refs/heads/main | wc -c) = 41"), 0);
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
stale_lock_goes(void **state)
{
	struct oid first = batch[2].oid, second = next(1);
	struct err e = { 0 };
	double start;

	(void)state;
	assert_int_equal(repo_move_branch(r, NULL, first, false, &e), 0);
	assert_int_equal(shell(": >$D/l.git/refs/heads/main.lock"), 0);
	start = seconds();
	assert_int_equal(repo_move_branch(r, &first, second, false, &e), 0);
	assert_true(seconds() - start > 0.5);
	assert_true(seconds() - start < 3);
	assert_branch(second);
	assert_int_equal(shell("test ! -e $D/l.git/refs/heads/main.lock"), 0);
}

/* A lock that changes hands is not stale, and is waited for. */
static void
live_lock_stays(void **state)
{
	struct oid first = batch[2].oid, second = next(1);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(repo_move_branch(r, NULL, first, false, &e), 0);
	assert_int_equal(
	    shell(": >$D/l.git/refs/heads/main.lock; "
		  "(sleep 0.3; rm $D/l.git/refs/heads/main.lock) & "
		  ":"),
	    0);
	assert_int_equal(repo_move_branch(r, &first, second, false, &e), 0);
	assert_branch(second);
}

static pid_t
pack_refs_loop(void)
{
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	null = open("/dev/null", O_WRONLY);
	dup2(null, 1);
	dup2(null, 2);
	for (;;) {
		pid = fork();
		if (!pid) {
			execlp("git", "git", "-C", in_scratch("l.git"),
			    "pack-refs", "--all", (char *)NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
}

static void
moves_beside_pack_refs(void **state)
{
	struct oid at = batch[2].oid;
	struct err e = { 0 };
	pid_t loop;
	double end;
	unsigned moves = 0;

	(void)state;
	assert_int_equal(repo_move_branch(r, NULL, at, false, &e), 0);
	loop = pack_refs_loop();
	for (end = seconds() + 4; seconds() < end; moves++) {
		struct oid to = next(moves + 1);

		if (repo_move_branch(r, &at, to, false, &e)) {
			kill(loop, SIGKILL);
			fail_msg("move %u: %s", moves, e.detail);
		}
		at = to;
		assert_branch(at);
	}
	kill(loop, SIGKILL);
	waitpid(loop, NULL, 0);
	print_message("%u moves\n", moves);
	assert_true(moves > 20);
	shell("rm -f $D/l.git/packed-refs.lock");
	assert_int_equal(shell("git -C $D/l.git fsck --strict"), 0);
	assert_int_equal(shell("test -s $D/l.git/packed-refs"), 0);
}

/* A target that is not there is refused, so the branch never dangles. */
static void
target_must_exist(void **state)
{
	struct oid first = batch[2].oid;
	struct oid none = { { 1, 2, 3 } };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(repo_move_branch(r, NULL, first, false, &e), 0);
	assert_int_equal(repo_move_branch(r, &first, none, false, &e), -1);
	assert_branch(first);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make, unmake)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(compares_and_swaps),
		CASE(torn_reference),
		CASE(stale_lock_goes),
		CASE(live_lock_stays),
		CASE(moves_beside_pack_refs),
		CASE(target_must_exist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
