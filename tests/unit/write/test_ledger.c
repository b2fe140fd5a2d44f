/*
 * The ledger as a whole: written, read, closed, opened, rebuilt; many threads;
 * refusals; replays of the receipt from git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "tests/support/toy_fixture.h"

static void
test_one_event(void **state)
{
	struct toy_fixture *f = *state;
	struct stored_event stored;
	struct receipt r;
	struct reading reading;
	uint64_t size;
	struct err e = { 0 };

	r = toy_fixture_note(f, "hello");
	assert_int_equal(r.n, 1);
	assert_int_equal(r.events[0].seq, 1);
	assert_int_equal(r.size, 2);
	assert_int_equal(ledger_read_begin(f->ledger, &reading, &e), 0);
	assert_int_equal(ledger_read_size(&reading, &size, &e), 0);
	assert_int_equal(size, 2);
	assert_int_equal(ledger_read_event(&reading, 1, f->a, &stored, &e), 0);
	assert_true(digest_eq(stored.recorded.hash, r.events[0].hash));
	assert_memory_equal(&stored.recorded.signature, &r.events[0].signature,
	    sizeof r.events[0].signature);
	assert_true(str_eq(stored.checkpoint, r.checkpoint));
	assert_true(oid_eq(stored.commit, r.commit));
	assert_int_equal(ledger_read_event(&reading, 2, f->a, &stored, &e), -1);
	assert_ptr_equal(e.kind, &err_not_found);
	ledger_read_end(&reading);
	assert_int_equal(toy_fixture_assert_verifies(f, f->key), 2);
}

static void
test_refusal_leaves_nothing(void **state)
{
	struct toy_fixture *f = *state;
	struct err e = { 0 };

	assert_ptr_equal(
	    toy_fixture_try_note(f, "refuse me", &e), &err_conflict);
	assert_int_equal(toy_fixture_size(f), 1);
}

static void
test_reopened(void **state)
{
	struct toy_fixture *f = *state;
	struct receipt r;

	toy_fixture_note(f, "one");
	toy_fixture_close(f);
	toy_fixture_open(f);
	assert_int_equal(toy_fixture_size(f), 2);
	r = toy_fixture_note(f, "two");
	assert_int_equal(r.events[0].seq, 2);
	assert_int_equal(toy_fixture_assert_verifies(f, f->key), 3);
}

/* What it held while it was open. */
static void
rebuild(struct toy_fixture *f, uint64_t expect)
{
	struct digest before = toy_hash_view(f->toy.ledger_dir);

	toy_fixture_close(f);
	assert_int_equal(toy_fixture_rebuild(f), expect);
	assert_true(digest_eq(before, toy_hash_view(f->toy.ledger_dir)));
	toy_fixture_open(f);
}

static void *
write_many(void *arg)
{
	struct toy_fixture *f = arg;
	struct arena *a = arena_new();

	for (int i = 0; i < 50; i++) {
		struct receipt r;
		struct err e = { 0 };
		const char *text = i % 10 == 9 ? "refuse me" : "note";
		int rc = toy_note(f->ledger, a, str_from(text), &r, &e);

		if (rc != (i % 10 == 9 ? -1 : 0))
			fprintf(stderr, "%s\n", e.detail), abort();
	}
	arena_free(a);
	return NULL;
}

static void
test_many_threads(void **state)
{
	struct toy_fixture *f = *state;
	pthread_t threads[64];

	for (size_t i = 0; i < 64; i++)
		pthread_create(&threads[i], NULL, write_many, f);
	for (size_t i = 0; i < 64; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(toy_fixture_size(f), 1 + 64 * 45);
	assert_int_equal(toy_fixture_assert_verifies(f, f->key), 1 + 64 * 45);
	rebuild(f, 1 + 64 * 45);
}

static void
test_state_deleted(void **state)
{
	struct toy_fixture *f = *state;
	struct digest before;
	char command[400];

	toy_fixture_note(f, "one");
	toy_fixture_note(f, "two");
	before = toy_hash_view(f->toy.ledger_dir);
	toy_fixture_close(f);
	snprintf(
	    command, sizeof command, "rm '%s'/state.db*", f->toy.ledger_dir);
	assert_int_equal(system(command), 0);
	toy_fixture_open(f);
	assert_int_equal(toy_fixture_size(f), 3);
	assert_true(digest_eq(before, toy_hash_view(f->toy.ledger_dir)));
}

/* Random bytes from a place in the closed read model on. */
static void
damage_view(struct toy_fixture *f, off_t at)
{
	uint8_t bytes[20000];
	char path[400];
	int fd;

	random_bytes(bytes, sizeof bytes);
	snprintf(path, sizeof path, "%s/state.db", f->toy.ledger_dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(io_pwrite_all(fd, bytes, sizeof bytes, at), 0);
	close(fd);
}

/* Wherever the damage is, the file's beginning too. */
static void
test_damaged_view_is_made_anew(void **state)
{
	static const off_t places[] = { 0, 4096, 8192, 40960 };
	struct toy_fixture *f = *state;
	struct digest before;

	toy_fixture_notes(f, 40);
	before = toy_hash_view(f->toy.ledger_dir);
	toy_fixture_close(f);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		damage_view(f, places[i]);
		assert_int_equal(toy_fixture_rebuild(f), 41);
		assert_true(
		    digest_eq(before, toy_hash_view(f->toy.ledger_dir)));
	}
	toy_fixture_open(f);
	toy_fixture_note(f, "goes on");
}

/* It is the read model, not the ledger; and whoever has it open meanwhile goes
 * on when it was made anew. */
static void
test_damaged_view_while_open(void **state)
{
	struct toy_fixture *f = *state;
	struct ledger *other = NULL;
	struct err e = { 0 };

	toy_fixture_notes(f, 40);
	toy_fixture_close(f);
	toy_fixture_open(f);
	damage_view(f, 4096);
	assert_int_equal(ledger_open(&f->toy.options, &other, &e), -1);
	assert_ptr_equal(e.kind, &err_view_damaged);
	assert_int_equal(toy_fixture_rebuild(f), 41);
	assert_int_equal(toy_fixture_size(f), 41);
	toy_fixture_note(f, "goes on");
	assert_int_equal(toy_fixture_assert_verifies(f, f->key), 42);
}

static void
test_branch_moved_back(void **state)
{
	struct toy_fixture *f = *state;
	struct err e = { 0 };
	char command[500];

	toy_fixture_note(f, "one");
	toy_fixture_note(f, "two");
	assert_int_equal(ledger_sync(f->ledger, &e), 0);
	snprintf(command, sizeof command,
	    "git --git-dir='%s/ledger.git' update-ref refs/heads/main"
	    " refs/heads/main~1",
	    f->toy.ledger_dir);
	assert_int_equal(system(command), 0);
	assert_ptr_equal(
	    toy_fixture_try_note(f, "three", &e), &err_rolled_back);
}

static void
test_payload(void **state)
{
	struct toy_fixture *f = *state;
	struct payload p = { .name = STR("file"),
		.media_type = STR("text/plain") };
	struct err e = { 0 };

	assert_int_equal(
	    ledger_store_payload(f->ledger, STR("content"), &p, &e), 0);
	assert_int_equal(p.size, 7);
	assert_true(digest_eq(p.sha256, sha256(STR("content"))));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TOY(test_one_event),
		WITH_TOY(test_refusal_leaves_nothing),
		WITH_TOY(test_reopened),
		WITH_TOY(test_many_threads),
		WITH_TOY(test_state_deleted),
		WITH_TOY(test_damaged_view_is_made_anew),
		WITH_TOY(test_damaged_view_while_open),
		WITH_TOY(test_branch_moved_back),
		WITH_TOY(test_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
