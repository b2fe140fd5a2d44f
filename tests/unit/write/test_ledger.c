/*
 * The ledger as a whole: written, read, closed, opened, rebuilt; many threads;
 * refusals; replays of the receipt from git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/chain/verify.h"
#include "tests/support/toy.h"

struct fixture {
	struct toy toy;
	struct ledger *ledger;
	struct arena *arena;
};

static void
open_ledger(struct fixture *f)
{
	struct err e = { 0 };

	if (ledger_open(&f->toy.options, &f->ledger, &e))
		fail_msg("ledger_open: %s", e.detail);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	toy_create(&f->toy, NULL);
	f->arena = arena_new();
	open_ledger(f);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	ledger_close(f->ledger);
	arena_free(f->arena);
	toy_remove(&f->toy);
	free(f);
	return 0;
}

static void
note(struct fixture *f, const char *text, struct receipt *r)
{
	struct err e = { 0 };

	if (toy_note(f->ledger, f->arena, str_from(text), r, &e))
		fail_msg("toy_note: %s", e.detail);
}

static uint64_t
size_of(struct fixture *f)
{
	struct reading r;
	struct err e = { 0 };
	uint64_t size;

	assert_int_equal(ledger_read_begin(f->ledger, &r, &e), 0);
	assert_int_equal(ledger_read_size(&r, &size, &e), 0);
	ledger_read_end(&r);
	return size;
}

static void
verify(struct fixture *f, uint64_t size)
{
	struct verify_options o = { .key = ledger_public_key(f->ledger) };
	struct verify_report report;
	struct err e = { 0 };
	char path[400];

	snprintf(path, sizeof path, "%s/ledger.git", f->toy.ledger_dir);
	if (verify_ledger(path, &o, &report, &e))
		fail_msg("verify_ledger: %s", e.detail);
	if (!report.good)
		fail_msg("event %llu, %s: %s",
		    (unsigned long long)report.failed_seq, report.check,
		    report.reason);
	assert_int_equal(report.size, size);
}

static void
test_one_event(void **state)
{
	struct fixture *f = *state;
	struct stored_event stored;
	struct receipt r;
	struct reading reading;
	uint64_t size;
	struct err e = { 0 };

	note(f, "hello", &r);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.events[0].seq, 1);
	assert_int_equal(r.size, 2);
	assert_int_equal(ledger_read_begin(f->ledger, &reading, &e), 0);
	assert_int_equal(ledger_read_size(&reading, &size, &e), 0);
	assert_int_equal(size, 2);
	assert_int_equal(
	    ledger_read_event(&reading, 1, f->arena, &stored, &e), 0);
	assert_true(digest_eq(stored.recorded.hash, r.events[0].hash));
	assert_memory_equal(&stored.recorded.signature, &r.events[0].signature,
	    sizeof r.events[0].signature);
	assert_true(str_eq(stored.checkpoint, r.checkpoint));
	assert_true(oid_eq(stored.commit, r.commit));
	assert_int_equal(
	    ledger_read_event(&reading, 2, f->arena, &stored, &e), -1);
	assert_ptr_equal(e.kind, &err_not_found);
	ledger_read_end(&reading);
	verify(f, 2);
}

static void
test_refusal_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct receipt r;
	struct err e = { 0 };

	assert_int_equal(
	    toy_note(f->ledger, f->arena, STR("refuse me"), &r, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	assert_int_equal(size_of(f), 1);
}

static void
test_reopened(void **state)
{
	struct fixture *f = *state;
	struct receipt r;

	note(f, "one", &r);
	ledger_close(f->ledger);
	open_ledger(f);
	assert_int_equal(size_of(f), 2);
	note(f, "two", &r);
	assert_int_equal(r.events[0].seq, 2);
	verify(f, 3);
}

static void
rebuild(struct fixture *f, uint64_t expect)
{
	struct digest before = toy_hash_view(f->toy.ledger_dir);
	struct err e = { 0 };
	uint64_t events;

	ledger_close(f->ledger);
	if (ledger_rebuild(&f->toy.options, NULL, NULL, &events, &e))
		fail_msg("ledger_rebuild: %s", e.detail);
	assert_int_equal(events, expect);
	assert_true(digest_eq(before, toy_hash_view(f->toy.ledger_dir)));
	open_ledger(f);
}

static void *
write_many(void *arg)
{
	struct fixture *f = arg;
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
	struct fixture *f = *state;
	pthread_t threads[64];

	for (size_t i = 0; i < 64; i++)
		pthread_create(&threads[i], NULL, write_many, f);
	for (size_t i = 0; i < 64; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(size_of(f), 1 + 64 * 45);
	verify(f, 1 + 64 * 45);
	rebuild(f, 1 + 64 * 45);
}

static void
test_state_deleted(void **state)
{
	struct fixture *f = *state;
	struct digest before;
	struct receipt r;
	char command[400];

	note(f, "one", &r);
	note(f, "two", &r);
	before = toy_hash_view(f->toy.ledger_dir);
	ledger_close(f->ledger);
	snprintf(
	    command, sizeof command, "rm '%s'/state.db*", f->toy.ledger_dir);
	assert_int_equal(system(command), 0);
	open_ledger(f);
	assert_int_equal(size_of(f), 3);
	assert_true(digest_eq(before, toy_hash_view(f->toy.ledger_dir)));
}

static void
test_branch_moved_back(void **state)
{
	struct fixture *f = *state;
	struct receipt r;
	struct err e = { 0 };
	char command[500];

	note(f, "one", &r);
	note(f, "two", &r);
	assert_int_equal(ledger_sync(f->ledger, &e), 0);
	snprintf(command, sizeof command,
	    "git --git-dir='%s/ledger.git' update-ref refs/heads/main"
	    " refs/heads/main~1",
	    f->toy.ledger_dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(
	    toy_note(f->ledger, f->arena, STR("three"), &r, &e), -1);
	assert_ptr_equal(e.kind, &err_rolled_back);
}

static void
test_payload(void **state)
{
	struct fixture *f = *state;
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
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_event),
		TEST(test_refusal_leaves_nothing),
		TEST(test_reopened),
		TEST(test_many_threads),
		TEST(test_state_deleted),
		TEST(test_branch_moved_back),
		TEST(test_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
