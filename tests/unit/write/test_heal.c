/*
 * A bit turned over, or a file lost, in each kind of object and in each place
 * that one lies in: the scrub finds it, names it and its events, and a mirror
 * mends it; a mirror that is not fit is refused, with nothing changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/write/backup.h"
#include "ledger/write/heal.h"
#include "ledger/write/key_change.h"
#include "tests/support/program.h"
#include "tests/support/toy_fixture.h"

#define DAMAGES 64

struct fixture {
	struct toy_fixture base;
	struct toy other;
	char mirror[400];
	struct damage found[DAMAGES];
	size_t n_found;
	struct scrub_state state;
	struct heal_report report;
	struct digest view;
};

struct with_payload {
	struct payload payload;
};

static int
decide_payload(struct tx *tx, void *arg, struct err *e)
{
	struct with_payload *w = arg;
	struct toy_noted data = { 1000, STR("with a content") };

	return tx_emit(
	    tx, &event_toy_noted, "toy", tx_uid(tx), &data, &w->payload, 1, e);
}

static void
note_payload(struct fixture *f)
{
	struct with_payload w = { { .name = STR("file"),
	    .media_type = STR("text/plain") } };
	struct command c = { .decide = decide_payload,
		.arg = &w,
		.actor = { .kind = STR("operator"), .id = STR("tester") },
		.arena = f->base.a };
	struct receipt r;
	struct err e = { 0 };

	if (ledger_store_payload(f->base.ledger,
		STR("a content of some length"), &w.payload, &e) ||
	    ledger_submit(f->base.ledger, &c, &r, &e))
		fail_msg("payload: %s", e.detail);
}

static void
mirror(struct fixture *f)
{
	struct backup_watch w = { 0 };
	struct backup_report r;
	struct err e = { 0 };

	if (ledger_backup(&f->base.toy.options, f->mirror, &w, &r, &e))
		fail_msg("ledger_backup: %s", e.detail);
}

/* Ten batches, the one with a payload newest but three. */
static int
setup(void **state)
{
	struct fixture *f = toy_fixture_new(sizeof *f);

	snprintf(f->mirror, sizeof f->mirror, "%s/mirror.git", f->base.toy.dir);
	toy_fixture_open(&f->base);
	toy_fixture_notes(&f->base, 5);
	note_payload(f);
	toy_fixture_notes(&f->base, 3);
	mirror(f);
	f->view = toy_hash_view(f->base.toy.ledger_dir);
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

static void
on_found(void *arg, const struct damage *d)
{
	struct fixture *f = arg;

	if (f->n_found < DAMAGES)
		f->found[f->n_found++] = *d;
}

static size_t
scrub(struct fixture *f)
{
	struct scrub_options how = { .found = on_found, .arg = f };
	struct err e = { 0 };

	f->n_found = 0;
	f->state = (struct scrub_state){ 0 };
	if (ledger_scrub(&f->base.toy.options, &how, &f->state, &e))
		fail_msg("ledger_scrub: %s", e.detail);
	assert_true(f->state.finished);
	assert_int_equal(f->state.damaged, f->n_found);
	return f->n_found;
}

static const struct err_kind *
heal_from(struct fixture *f, const char *from)
{
	struct heal_options how = { 0 };
	struct err e = { 0 };
	int rc = ledger_heal(&f->base.toy.options, from, &how, &f->report, &e);

	assert_int_equal(rc == 0, e.kind == NULL);
	if (rc)
		print_message("%s\n", e.detail);
	return e.kind;
}

static void
heal(struct fixture *f)
{
	assert_null(heal_from(f, f->mirror));
	assert_int_equal(f->report.left, 0);
	assert_int_equal(scrub(f), 0);
}

/* The ledger goes on as if nothing had been. */
static void
is_as_before(struct fixture *f)
{
	toy_fixture_close(&f->base);
	toy_fixture_rebuild(&f->base);
	assert_true(digest_eq(f->view, toy_hash_view(f->base.toy.ledger_dir)));
	toy_fixture_open(&f->base);
	toy_fixture_notes(&f->base, 1);
	assert_int_equal(scrub(f), 0);
}

static void
flip(const char *path, size_t at)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct stat st;
	struct str s;
	char *bytes;
	FILE *file;

	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(io_read_file(a, path, (size_t)st.st_size, &s, &e), 0);
	bytes = arena_cstr(a, s);
	assert_true(at < s.n);
	bytes[at] ^= 1;
	file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, s.n, file), s.n);
	assert_int_equal(fclose(file), 0);
	arena_free(a);
}

static char *
oid_of(struct fixture *f, const char *spec)
{
	return program_output(
	    f->base.a, "git -C %s rev-parse %s", f->base.repo, spec);
}

static char *
loose_path(struct fixture *f, const char *oid)
{
	return arena_printf(
	    f->base.a, "%s/objects/%.2s/%s", f->base.repo, oid, oid + 2);
}

/* Each kind of object, as git names it, and as the scrub does. */
static const struct {
	const char *spec, *kind;
	uint64_t first, last;
} kinds[] = {
	{ "main~3", "commit", 6, 6 },
	{ "main~3^{tree}", "tree", 6, 6 },
	{ "main~3:events", "events", 6, 6 },
	{ "main~3:checkpoint", "checkpoint", 6, 6 },
	{ "main~3:allowed_signers", "allowed_signers", 0, 0 },
	{ "main~3:payloads", "payloads", 6, 6 },
	{ NULL, "payload", 6, 6 },
	{ "main", "commit", 9, 9 },
	{ "main:events", "events", 9, 9 },
};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static char *
oid_of_kind(struct fixture *f, size_t i)
{
	if (kinds[i].spec)
		return oid_of(
		    f, arena_printf(f->base.a, "'%s'", kinds[i].spec));
	return program_output(f->base.a,
	    "git -C %s ls-tree main~3:payloads | cut -c13-52", f->base.repo);
}

static void
found_one(struct fixture *f, size_t i, const char *oid)
{
	assert_int_equal(scrub(f) >= 1, 1);
	for (size_t k = 0; k < f->n_found; k++) {
		const struct damage *d = &f->found[k];

		if (strcmp(d->name, oid) != 0 ||
		    strcmp(d->kind, kinds[i].kind) != 0)
			continue;
		assert_true(d->has_seq);
		assert_int_equal(d->first_seq, kinds[i].first);
		assert_int_equal(d->last_seq, kinds[i].last);
		return;
	}
	fail_msg("%s %s was not found", kinds[i].kind, oid);
}

static void
test_whole(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(scrub(f), 0);
	assert_int_equal(f->state.events, 10);
	assert_true(f->state.objects >= 10 * 4);
	heal(f);
	assert_int_equal(f->report.mended, 0);
	assert_int_equal(f->report.mirror_size, 10);
	is_as_before(f);
}

static void
test_loose(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < N_KINDS; i++) {
		const char *oid = oid_of_kind(f, i);
		const char *path = loose_path(f, oid);
		struct stat st;

		print_message("%s\n", kinds[i].kind);
		assert_int_equal(stat(path, &st), 0);
		flip(path, (size_t)st.st_size - 6);
		found_one(f, i, oid);
		heal(f);
		assert_int_equal(f->report.mended, 1);
	}
	is_as_before(f);
}

static void
test_missing(void **state)
{
	struct fixture *f = *state;

	toy_fixture_close(&f->base);
	for (size_t i = 0; i < N_KINDS; i++) {
		const char *oid = oid_of_kind(f, i);

		assert_int_equal(unlink(loose_path(f, oid)), 0);
		found_one(f, i, oid);
		assert_string_equal(f->found[0].what, "it is missing");
		heal(f);
		assert_int_equal(f->report.mended, 1);
	}
	is_as_before(f);
}

/* Many at once, in one batch: what hangs on a lost tree is looked at too. */
static void
test_many(void **state)
{
	struct fixture *f = *state;
	const char *paths[N_KINDS];

	toy_fixture_close(&f->base);
	for (size_t i = 0; i < N_KINDS; i++)
		paths[i] = loose_path(f, oid_of_kind(f, i));
	for (size_t i = 0; i < N_KINDS; i++)
		assert_int_equal(unlink(paths[i]), 0);
	assert_int_equal(scrub(f), 3);
	heal(f);
	assert_int_equal(f->report.mended, N_KINDS);
	is_as_before(f);
}

static void
pack(struct fixture *f)
{
	struct err e = { 0 };
	size_t packed;

	if (ledger_pack(f->base.ledger, 1, &packed, &e))
		fail_msg("ledger_pack: %s", e.detail);
	assert_true(packed > 0);
}

static char *
only_pack(struct fixture *f, const char *suffix)
{
	return program_output(
	    f->base.a, "ls %s/objects/pack/pack-*.%s", f->base.repo, suffix);
}

static size_t
place_in_pack(struct fixture *f, const char *oid)
{
	return (size_t)atoll(program_output(f->base.a,
	    "git show-index <%s | grep %s | cut -d' ' -f1", only_pack(f, "idx"),
	    oid));
}

static void
found_pack(struct fixture *f)
{
	assert_true(scrub(f) >= 1);
	assert_string_equal(f->found[0].kind, "pack");
	assert_true(strncmp(f->found[0].name, "pack-", 5) == 0);
}

static void
test_packed(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < N_KINDS; i++) {
		const char *oid = oid_of_kind(f, i), *path;

		pack(f);
		path = only_pack(f, "pack");
		flip(path, place_in_pack(f, oid) + 12);
		print_message("%s: ", kinds[i].kind);
		found_pack(f);
		print_message("%s\n", f->found[0].what);
		found_one(f, i, oid);
		heal(f);
		assert_int_equal(f->report.mended, 2);
		assert_true(f->report.moved > 30);
		assert_int_equal(access(path, F_OK), -1);
	}
	is_as_before(f);
}

/* Every byte of the index matters, and both ends of the pack. */
static void
test_index(void **state)
{
	struct fixture *f = *state;
	static const size_t places[] = { 0, 9, 1000, 1040, 1500, 2000 };

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		pack(f);
		flip(only_pack(f, "idx"), places[i]);
		found_pack(f);
		heal(f);
	}
	pack(f);
	assert_int_equal(truncate(only_pack(f, "idx"), 1100), 0);
	found_pack(f);
	heal(f);
	pack(f);
	assert_int_equal(truncate(only_pack(f, "pack"), 700), 0);
	found_pack(f);
	heal(f);
	pack(f);
	flip(only_pack(f, "pack"), 5);
	found_pack(f);
	heal(f);
	is_as_before(f);
}

/* The sums at the ends alone: git reads nothing of such a pack. */
static void
test_sums(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	const char *path;

	pack(f);
	path = only_pack(f, "pack");
	assert_int_equal(stat(path, &st), 0);
	flip(path, (size_t)st.st_size - 1);
	found_pack(f);
	assert_string_equal(f->found[0].what, "its checksum is wrong");
	heal(f);
	is_as_before(f);
}

/* A pack goes only when everything in it is whole elsewhere. */
static void
test_pack_is_kept(void **state)
{
	struct fixture *f = *state;
	const char *oid, *path;

	toy_fixture_notes(&f->base, 2);
	f->view = toy_hash_view(f->base.toy.ledger_dir);
	pack(f);
	path = only_pack(f, "pack");
	oid = oid_of(f, "main:events");
	flip(path, place_in_pack(f, oid) + 12);
	assert_null(heal_from(f, f->mirror));
	assert_int_equal(f->report.left, 2);
	assert_int_equal(f->report.mended, 0);
	assert_int_equal(access(path, F_OK), 0);
	flip(path, place_in_pack(f, oid) + 12);
	heal(f);
	assert_int_equal(f->report.mended, 0);
	is_as_before(f);
}

/* The journal alone would bring the branch back: here it is empty. */
static void
empty_journal(struct fixture *f)
{
	struct err e = { 0 };

	if (ledger_sync(f->base.ledger, &e))
		fail_msg("ledger_sync: %s", e.detail);
	toy_fixture_close(&f->base);
}

static void
test_branch(void **state)
{
	struct fixture *f = *state;
	char *path =
	    arena_printf(f->base.a, "%s/refs/heads/main", f->base.repo);
	char *before = oid_of(f, "main~2");
	FILE *file;

	empty_journal(f);
	for (int way = 0; way < 3; way++) {
		assert_int_equal(unlink(path), 0);
		if (way > 0) {
			file = fopen(path, "w");
			assert_non_null(file);
			fprintf(file, "%.20s%s", before,
			    way == 1 ? "" : before + 20);
			assert_int_equal(fclose(file), 0);
		}
		assert_int_equal(scrub(f), 1);
		assert_string_equal(f->found[0].kind, "branch");
		heal(f);
		assert_int_equal(f->report.mended, 1);
	}
	is_as_before(f);
}

/* Without a read model the branch's commit leads on, or nothing does. */
static void
test_without_read_model(void **state)
{
	struct fixture *f = *state;
	const char *oid = oid_of(f, "main~4"), *tip = oid_of(f, "main");

	empty_journal(f);
	toy_fixture_remove_view(&f->base);
	assert_int_equal(unlink(loose_path(f, oid)), 0);
	assert_int_equal(unlink(loose_path(f, tip)), 0);
	assert_int_equal(scrub(f), 1);
	assert_null(heal_from(f, f->mirror));
	assert_int_equal(f->report.mended, 2);
	assert_int_equal(f->report.left, 0);
	assert_int_equal(scrub(f), 0);
	assert_int_equal(
	    unlink(arena_printf(f->base.a, "%s/refs/heads/main", f->base.repo)),
	    0);
	assert_ptr_equal(heal_from(f, f->mirror), &err_not_found);
}

static void
damage_one(struct fixture *f)
{
	flip(loose_path(f, oid_of(f, "main~3:events")), 60);
}

static void
refuses(struct fixture *f, const char *from)
{
	assert_ptr_equal(heal_from(f, from), &err_mirror_unfit);
	assert_int_equal(f->report.mended, 0);
	assert_int_equal(scrub(f), 1);
}

static void
test_longer_mirror(void **state)
{
	struct fixture *f = *state;
	char *copy = arena_printf(f->base.a, "%s/copy", f->base.toy.dir);
	char *keys = arena_printf(f->base.a, "%s/signed", f->base.toy.keys_dir);

	/* The ledger as it was, and a mirror of what it became. */
	toy_fixture_close(&f->base);
	program_output(f->base.a, "cp -a %s %s", f->base.toy.ledger_dir, copy);
	toy_fixture_open(&f->base);
	toy_fixture_notes(&f->base, 4);
	mirror(f);
	toy_fixture_close(&f->base);
	program_output(f->base.a, "rm -rf %s && mv %s %s",
	    f->base.toy.ledger_dir, copy, f->base.toy.ledger_dir);
	unlink(keys);
	damage_one(f);
	heal(f);
	assert_int_equal(f->report.mirror_size, 14);
	is_as_before(f);
}

static void
test_shorter_mirror(void **state)
{
	struct fixture *f = *state;
	const char *newest;

	toy_fixture_notes(&f->base, 3);
	f->view = toy_hash_view(f->base.toy.ledger_dir);
	damage_one(f);
	newest = loose_path(f, oid_of(f, "main:checkpoint"));
	flip(newest, 60);
	assert_null(heal_from(f, f->mirror));
	assert_int_equal(f->report.mended, 1);
	assert_int_equal(f->report.left, 1);
	assert_int_equal(scrub(f), 1);
	flip(newest, 60);
	heal(f);
	is_as_before(f);
}

/* The mirror knows the key of before alone. */
static void
test_mirror_of_before_a_key(void **state)
{
	struct actor operator= { .kind = STR("operator"), .id = STR("tester") };
	struct fixture *f = *state;
	struct key_change c;
	struct err e = { 0 };

	if (ledger_rotate_key(
		&f->base.toy.options, &operator, NULL, f->base.a, &c, &e))
		fail_msg("rotate: %s", e.detail);
	toy_fixture_notes(&f->base, 2);
	f->view = toy_hash_view(f->base.toy.ledger_dir);
	damage_one(f);
	heal(f);
	assert_int_equal(f->report.mirror_size, 10);
	is_as_before(f);
}

static void
test_damaged_mirror(void **state)
{
	struct fixture *f = *state;
	char *path;

	damage_one(f);
	path =
	    program_output(f->base.a, "ls %s/objects/pack/*.pack", f->mirror);
	flip(path, 300);
	refuses(f, f->mirror);
	refuses(f, f->base.toy.dir);
}

static void
test_other_ledger(void **state)
{
	struct fixture *f = *state;

	damage_one(f);
	toy_create(&f->other, NULL);
	refuses(
	    f, arena_printf(f->base.a, "%s/ledger.git", f->other.ledger_dir));
}

/* The same keys, the same origin, and another past. */
static void
test_other_history(void **state)
{
	struct fixture *f = *state;
	struct toy own = f->base.toy;
	struct err e = { 0 };

	toy_fixture_close(&f->base);
	snprintf(f->base.toy.ledger_dir, sizeof f->base.toy.ledger_dir,
	    "%s/fork", own.dir);
	f->base.toy.options.dir = f->base.toy.ledger_dir;
	if (toy_make(&f->base.toy, &e))
		fail_msg("%s", e.detail);
	for (int way = 0; way < 2; way++) {
		toy_fixture_open(&f->base);
		toy_fixture_notes(&f->base, way == 0 ? 3 : 20);
		toy_fixture_close(&f->base);
		f->base.toy = own;
		f->base.toy.options.dir = own.ledger_dir;
		damage_one(f);
		refuses(
		    f, arena_printf(f->base.a, "%s/fork/ledger.git", own.dir));
		damage_one(f);
		snprintf(f->base.toy.ledger_dir, sizeof f->base.toy.ledger_dir,
		    "%s/fork", own.dir);
		f->base.toy.options.dir = f->base.toy.ledger_dir;
	}
	f->base.toy = own;
}

static void
test_remains(void **state)
{
	struct fixture *f = *state;
	struct damage_name names[] = {
		{ STR("events"), str_from(oid_of(f, "main~3:events")) },
		{ STR("commit"), str_from(oid_of(f, "main")) },
		{ STR("batch"), str_from(oid_of(f, "main~3")) },
		{ STR("branch"), STR("refs/heads/main") },
		{ STR("pack"),
		    STR("pack-"
			"0000000000000000000000000000000000000000") },
	};
	static const bool expected[] = { true, false, true, false, false };
	bool remains[5];
	struct err e = { 0 };

	damage_one(f);
	assert_int_equal(
	    ledger_damage_remains(&f->base.toy.options, names, 5, remains, &e),
	    0);
	assert_memory_equal(remains, expected, sizeof expected);
	heal(f);
	assert_int_equal(
	    ledger_damage_remains(&f->base.toy.options, names, 5, remains, &e),
	    0);
	for (size_t i = 0; i < 5; i++)
		assert_false(remains[i]);
}

static bool
after_three(void *arg)
{
	struct fixture *f = arg;

	return f->state.events % 3 == 0;
}

/* In pieces it is the same as at once. */
static void
test_pieces(void **state)
{
	struct fixture *f = *state;
	struct scrub_options how = {
		.found = on_found, .enough = after_three, .arg = f
	};
	struct err e = { 0 };
	int pieces = 0;

	damage_one(f);
	f->n_found = 0;
	for (; !f->state.finished; pieces++)
		assert_int_equal(
		    ledger_scrub(&f->base.toy.options, &how, &f->state, &e), 0);
	assert_int_equal(pieces, 4);
	assert_int_equal(f->n_found, 1);
	assert_int_equal(f->state.events, 10);
}

static void
test_rate(void **state)
{
	struct fixture *f = *state;
	struct scrub_options how = { .found = on_found, .arg = f };
	struct timespec a, b;
	struct err e = { 0 };
	double seconds, least;

	scrub(f);
	how.bytes_per_second = f->state.bytes;
	f->state = (struct scrub_state){ 0 };
	clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(
	    ledger_scrub(&f->base.toy.options, &how, &f->state, &e), 0);
	clock_gettime(CLOCK_MONOTONIC, &b);
	seconds = (double)(b.tv_sec - a.tv_sec) +
		  (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	least = (double)f->state.bytes / (double)how.bytes_per_second;
	assert_true(seconds >= least * 0.99);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole),
		TEST(test_loose),
		TEST(test_missing),
		TEST(test_many),
		TEST(test_packed),
		TEST(test_index),
		TEST(test_sums),
		TEST(test_pack_is_kept),
		TEST(test_branch),
		TEST(test_without_read_model),
		TEST(test_longer_mirror),
		TEST(test_shorter_mirror),
		TEST(test_mirror_of_before_a_key),
		TEST(test_damaged_mirror),
		TEST(test_other_ledger),
		TEST(test_other_history),
		TEST(test_remains),
		TEST(test_pieces),
		TEST(test_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
