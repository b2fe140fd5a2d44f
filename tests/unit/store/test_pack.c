#include "tests/unit/store/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include "ledger/store/pack.h"

static struct repo *r;
static struct turn *turn;
static struct arena *arena;
static struct object last[3];
static unsigned batches;

static int
make(void **state)
{
	struct err e = { 0 };

	if (scratch_make(state) || repo_create(in_scratch("l.git"), &e) ||
	    repo_open(in_scratch("l.git"), &r, &e) ||
	    turn_open(scratch, &turn, &e))
		return -1;
	arena = arena_new();
	batches = 0;
	return 0;
}

static int
unmake(void **state)
{
	turn_close(turn);
	repo_close(r);
	arena_free(arena);
	return scratch_remove(state);
}

/* n batches more, of three objects each. */
static void
grow(unsigned n, size_t bytes)
{
	struct err e = { 0 };

	while (n--) {
		struct oid parent = last[2].oid;

		arena_reset(arena);
		batch_of(arena, batches ? &parent : NULL, batches, bytes, last);
		if (repo_write(r, last, 3, &e) ||
		    repo_move_branch(
			r, batches ? &parent : NULL, last[2].oid, false, &e))
			fail_msg("%s", e.detail);
		batches++;
	}
}

static size_t
loose_now(void)
{
	struct err e = { 0 };
	size_t n;

	assert_int_equal(pack_count_loose(r, SIZE_MAX, &n, &e), 0);
	return n;
}

static size_t
packs_now(void)
{
	struct err e = { 0 };
	size_t n;

	assert_int_equal(pack_count(r, &n, &e), 0);
	return n;
}

static size_t
pack(size_t limit)
{
	struct err e = { 0 };
	size_t n;

	if (pack_loose(r, turn, limit, &n, &e))
		fail_msg("%s", e.detail);
	return n;
}

static void
assert_sound(void)
{
	char line[256];

	snprintf(line, sizeof(line),
	    "git -C $D/l.git fsck --strict --full && "
	    "test $(git -C $D/l.git rev-list --count main) = %u",
	    batches);
	assert_int_equal(shell(line), 0);
}

static void
nothing_to_pack(void **state)
{
	(void)state;
	assert_int_equal(pack(100), 0);
	grow(1, 50);
	assert_int_equal(pack(100), 3);
	assert_int_equal(pack(100), 0);
	assert_int_equal(packs_now(), 1);
}

static void
packs_in_pieces_from_the_oldest(void **state)
{
	struct repo *before = NULL;
	struct err e = { 0 };
	struct str got;

	(void)state;
	assert_int_equal(repo_open(in_scratch("l.git"), &before, &e), 0);
	grow(40, 300);
	assert_int_equal(loose_now(), 120);
	assert_int_equal(pack_count_loose(r, 7, &(size_t){ 0 }, &e), 0);
	assert_int_equal(pack(31), 30);
	assert_int_equal(loose_now(), 90);
	assert_sound();
	/* One commit at least, however small the limit. */
	assert_int_equal(pack(1), 3);
	assert_int_equal(pack(1000), 87);
	assert_int_equal(loose_now(), 0);
	assert_int_equal(packs_now(), 3);
	assert_sound();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(repo_read(before, last[i].oid, last[i].kind,
				     4096, arena, &got, &e),
		    0);
		assert_true(str_eq(got, last[i].bytes));
	}
	repo_close(before);
	assert_int_equal(
	    shell("test $(ls $D/l.git/objects | grep -c '^..$') = 256"), 0);
	assert_int_equal(shell("git clone -q $D/l.git $D/c && "
			       "git -C $D/c fsck --strict"),
	    0);
}

/* A payload that no event names yet stays as it is. */
static void
unreachable_stays_loose(void **state)
{
	struct object o = { .kind = OBJECT_BLOB,
		.bytes = STR("not yet named") };
	struct err e = { 0 };

	(void)state;
	grow(3, 50);
	assert_int_equal(repo_write_synced(r, &o, &e), 0);
	assert_int_equal(pack(1000), 9);
	assert_int_equal(loose_now(), 1);
	assert_true(repo_has(r, o.oid));
}

/* As when a run was killed after the pack and before the unlinking. */
static void
copies_are_dropped(void **state)
{
	(void)state;
	grow(10, 300);
	assert_int_equal(shell("git -C $D/l.git repack -q -a"), 0);
	assert_int_equal(loose_now(), 30);
	assert_int_equal(pack(1000), 0);
	assert_int_equal(loose_now(), 0);
	assert_int_equal(packs_now(), 1);
	assert_sound();
	grow(5, 300);
	assert_int_equal(pack(1000), 15);
	assert_sound();
}

/* The last commit's blob is written again beside its packed copy; the pack is
 * then damaged: the good loose copy must stay. */
static void
a_bad_pack_costs_no_copy(void **state)
{
	struct err e = { 0 };
	size_t n;

	(void)state;
	grow(4, 3000);
	assert_int_equal(pack(1000), 12);
	assert_int_equal(repo_write(r, last, 3, &e), 0);
	assert_int_equal(loose_now(), 3);
	assert_int_equal(
	    shell("P=$(ls $D/l.git/objects/pack/*.pack); chmod u+w $P; "
		  "S=$(stat -c %s $P); head -c 3000 /dev/zero | "
		  "dd of=$P bs=1 seek=$((S / 2)) conv=notrunc status=none"),
	    0);
	assert_int_equal(pack_loose(r, turn, 1000, &n, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	assert_int_equal(loose_now(), 3);
}

static void
torn_loose_object_stops_packing(void **state)
{
	struct err e = { 0 };
	char hex[OID_HEX + 1], line[256];
	size_t n;

	(void)state;
	grow(4, 3000);
	oid_hex(last[0].oid, hex);
	snprintf(line, sizeof(line),
	    "F=$D/l.git/objects/%.2s/%s; chmod u+w $F; truncate -s 1500 $F",
	    hex, hex + 2);
	assert_int_equal(shell(line), 0);
	assert_int_equal(pack_loose(r, turn, 1000, &n, &e), -1);
	assert_int_equal(loose_now(), 12);
	assert_int_equal(packs_now(), 0);
	oid_hex(last[1].oid, hex);
	err_clear(&e);
	snprintf(
	    line, sizeof(line), "rm -f $D/l.git/objects/%.2s/%s", hex, hex + 2);
	assert_int_equal(shell(line), 0);
	assert_int_equal(pack_loose(r, turn, 1000, &n, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	assert_int_equal(packs_now(), 0);
}

/* Eight of a size become one; what they were goes after its time of grace. */
static void
joins_packs(void **state)
{
	(void)state;
	for (int i = 0; i < 7; i++) {
		grow(2, 200);
		assert_int_equal(pack(1000), 6);
	}
	assert_int_equal(packs_now(), 7);
	grow(2, 200);
	assert_int_equal(pack(1000), 6);
	assert_int_equal(packs_now(), 9);
	assert_sound();
	assert_int_equal(
	    shell("test $(wc -l <$D/l.git/packs-superseded) = 8"), 0);
	assert_int_equal(pack(1000), 0);
	assert_int_equal(packs_now(), 9);
	assert_int_equal(
	    shell("sed -i 's/^[0-9]*/1000000000/' $D/l.git/packs-superseded; "
		  "git -C $D/l.git multi-pack-index write"),
	    0);
	assert_int_equal(pack(1000), 0);
	assert_int_equal(packs_now(), 1);
	assert_int_equal(shell("test ! -s $D/l.git/packs-superseded && "
			       "test $(ls $D/l.git/objects/pack | wc -l) = 2"),
	    0);
	assert_sound();
}

/* The list is a hint: a pack that nothing replaces is not removed. */
static void
forged_list_removes_nothing(void **state)
{
	(void)state;
	grow(2, 200);
	pack(1000);
	grow(2, 200);
	pack(1000);
	assert_int_equal(
	    shell("cd $D/l.git; { echo junk; echo 1 pack-../../config; "
		  "for p in objects/pack/*.idx; do "
		  "echo 1 $(basename $p .idx); done; } >packs-superseded"),
	    0);
	assert_int_equal(pack(1000), 0);
	assert_int_equal(packs_now(), 2);
	assert_sound();
}

static void
never_too_many_packs(void **state)
{
	(void)state;
	for (int i = 0; i < 90; i++) {
		grow(1, 100);
		assert_int_equal(pack(1000), 3);
		assert_true(packs_now() <= PACK_MAX);
	}
	assert_sound();
}

/* One writer, one packer, stock git reading, all at once. */
static void
packs_beside_a_writer(void **state)
{
	struct timespec t = { 0, 50000000 }, breath = { 0, 3000000 };
	volatile int rounds = 0;
	pid_t packer, reader;
	int status, packed;

	(void)state;
	grow(10, 500);
	packer = fork();
	if (!packer) {
		struct repo *mine;
		struct turn *wait;
		struct err e = { 0 };
		size_t n;

		if (repo_open(in_scratch("l.git"), &mine, &e) ||
		    turn_open(scratch, &wait, &e))
			_exit(2);
		for (;;) {
			if (pack_loose(mine, wait, 200, &n, &e)) {
				fprintf(stderr, "packer: %s\n", e.detail);
				_exit(1);
			}
			nanosleep(&t, NULL);
		}
	}
	reader = fork();
	if (!reader) {
		for (int i = 0; i < 8; i++)
			if (shell("rm -rf $D/c; git clone -q --no-local "
				  "$D/l.git $D/c && "
				  "git -C $D/c fsck --strict && "
				  "git -C $D/l.git rev-list --objects main"))
				_exit(1);
		_exit(0);
	}
	while (!waitpid(reader, &status, WNOHANG)) {
		struct err e = { 0 };
		struct str got;

		/* Not without end: each clone takes longer than the last. */
		if (rounds < 300) {
			if (turn_take(turn, &e))
				fail();
			grow(5, 500);
			turn_release(turn);
		}
		for (int i = 0; i < 3; i++)
			if (repo_read(r, last[i].oid, last[i].kind, 4096, arena,
				&got, &e))
				fail_msg("%s", e.detail);
		rounds++;
		nanosleep(&breath, NULL);
	}
	kill(packer, SIGKILL);
	waitpid(packer, &packed, 0);
	assert_int_equal(status, 0);
	assert_int_equal(packed, SIGKILL); /* it had not failed before */
	print_message("%u batches, %zu packs, %zu loose\n", batches,
	    packs_now(), loose_now());
	assert_true(packs_now() > 0);
	pack(SIZE_MAX);
	assert_int_equal(loose_now(), 0);
	assert_sound();
}

/* Killed at any moment, packing loses nothing. */
static void
survives_kills(void **state)
{
	(void)state;
	for (int i = 0; i < 12; i++) {
		struct timespec t = { 0, 500000L + i * 2000000L };
		pid_t pid;

		grow(60, 400);
		pid = fork();
		if (!pid) {
			pack(SIZE_MAX);
			_exit(0);
		}
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_sound();
	}
	pack(SIZE_MAX);
	assert_int_equal(loose_now(), 0);
	assert_sound();
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make, unmake)

static struct str
pack_of_tip(size_t max, struct err *e)
{
	struct str bytes = STR_NONE;

	pack_commit(r, last[2].oid, max, arena, &bytes, e);
	return bytes;
}

static void
keep(struct str bytes)
{
	FILE *f = fopen(in_scratch("one.pack"), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
	fclose(f);
}

/* Three objects and nothing of the commit before, loose and packed alike. */
static void
one_commit_as_a_pack(void **state)
{
	struct err e = { 0 };
	struct str loose, packed;
	char line[512], oid[OID_HEX + 1];

	(void)state;
	grow(2, 3000);
	oid_hex(last[2].oid, oid);
	loose = pack_of_tip(1 << 20, &e);
	assert_int_equal(e.kind, 0);
	keep(loose);
	snprintf(line, sizeof line,
	    "git init -q --bare $D/e && cd $D/e && "
	    "git unpack-objects <$D/one.pack && "
	    "test $(git count-objects | cut -d' ' -f1) = 3 && "
	    "git cat-file -t %s && git cat-file -p %s^{tree} && "
	    "! git cat-file -e %s^",
	    oid, oid, oid);
	assert_int_equal(shell(line), 0);
	assert_int_equal(pack(100), 6);
	packed = pack_of_tip(1 << 20, &e);
	assert_int_equal(e.kind, 0);
	assert_true(str_eq(loose, packed));
	assert_null(pack_of_tip(2000, &e).p);
	assert_ptr_equal(e.kind, &err_too_large);
	e = (struct err){ 0 };
	last[2].oid.b[0] ^= 1;
	assert_null(pack_of_tip(1 << 20, &e).p);
	assert_ptr_equal(e.kind, &err_corrupt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_to_pack),
		CASE(packs_in_pieces_from_the_oldest),
		CASE(unreachable_stays_loose),
		CASE(copies_are_dropped),
		CASE(a_bad_pack_costs_no_copy),
		CASE(torn_loose_object_stops_packing),
		CASE(joins_packs),
		CASE(forged_list_removes_nothing),
		CASE(never_too_many_packs),
		CASE(packs_beside_a_writer),
		CASE(survives_kills),
		CASE(one_commit_as_a_pack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
