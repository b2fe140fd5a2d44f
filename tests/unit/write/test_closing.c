/*
 * A ledger's end: the last event, that nothing follows it, and its successor in
 * the same place, whatever the step at which the command was cut short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/continuity.h"
#include "ledger/crypto/ed25519.h"
#include "ledger/write/succession_steps.h"
#include "tests/support/event_vector.h"
#include "tests/support/toy_fixture.h"

#define FIRST  "ledger.example.com/toy/sandbox"
#define SECOND "ledger.example.com/toy/sandbox/2"
#define THIRD  "ledger.example.com/toy/sandbox/3"

struct fixture {
	struct toy_fixture base;
	struct str carried; /* what the successor begins with */
};

static int
setup(void **state)
{
	struct fixture *f = toy_fixture_new(sizeof *f);

	f->carried = STR("nothing");
	*state = f;
	return 0;
}

/* NULL: it was written. */
static const struct err_kind *
note(struct fixture *f, const char *text)
{
	struct err e;

	return toy_fixture_try_note(&f->base, text, &e);
}

static const struct actor tester = { .kind = { "operator", 8 },
	.id = { "tester", 6 } };

static const struct err_kind *
end(struct fixture *f, const char *successor)
{
	struct ledger_closed closing = { .successor = str_from(successor) };
	struct err e = { 0 };

	return ledger_end(f->base.ledger, &tester, &closing, &e) ? e.kind
								 : NULL;
}

static char *
repo_at(struct fixture *f, const char *dir)
{
	return arena_printf(
	    f->base.a, "%s/%s/ledger.git", f->base.toy.dir, dir);
}

static struct verify_report
verify(struct fixture *f, const char *dir)
{
	struct verify_options o = { .own_key = true, .threads = 1 };
	struct verify_report r;
	struct err e = { 0 };

	if (verify_ledger(repo_at(f, dir), &o, &r, &e))
		fail_msg("verify_ledger: %s", e.detail);
	return r;
}

static void
test_nothing_follows_the_last_event(void **state)
{
	struct fixture *f = *state;
	struct ledger_closed closed;
	struct reading reading;
	struct err e = { 0 };

	toy_fixture_open(&f->base);
	assert_null(note(f, "one"));
	assert_null(end(f, SECOND));
	assert_ptr_equal(note(f, "two"), &err_ledger_closed);
	assert_ptr_equal(end(f, SECOND), &err_ledger_closed);
	assert_int_equal(toy_fixture_size(&f->base), 3);
	toy_fixture_close(&f->base);
	toy_fixture_open(&f->base);
	assert_ptr_equal(note(f, "two"), &err_ledger_closed);
	assert_int_equal(ledger_read_begin(f->base.ledger, &reading, &e), 0);
	assert_int_equal(
	    ledger_read_closed(reading.db, f->base.a, &closed, &e), 1);
	assert_true(str_is(closed.successor, SECOND));
	assert_null(closed.reason.p);
	ledger_read_end(&reading);
	toy_fixture_close(&f->base);
	assert_true(verify(f, "ledger").good);
	assert_true(verify(f, "ledger").closed);
	toy_fixture_assert_rebuilds(&f->base);
}

static void
test_successor_is_another_ledger(void **state)
{
	struct fixture *f = *state;

	toy_fixture_open(&f->base);
	assert_ptr_equal(end(f, FIRST), &err_invalid);
	assert_ptr_equal(end(f, "not an origin"), &err_invalid);
	assert_ptr_equal(end(f, ""), &err_invalid);
	assert_null(note(f, "still open"));
}

static void
test_vector(void **state)
{
	(void)state;
	event_vector_check(&event_ledger_closed);
}

/* Many write while it is closed. */
#define WRITERS 8

struct crowd {
	struct fixture *f;
	atomic_int written, refused, wrong;
};

static void *
write_until_closed(void *arg)
{
	struct crowd *c = arg;
	struct arena *a = arena_new();

	for (;;) {
		struct err e = { 0 };
		struct receipt r;

		if (toy_note(c->f->base.ledger, a, STR("busy"), &r, &e) == 0) {
			c->written++;
			continue;
		}
		if (e.kind == &err_ledger_closed)
			c->refused++;
		else
			c->wrong++;
		break;
	}
	arena_free(a);
	return NULL;
}

static void
test_closing_has_a_batch_to_itself(void **state)
{
	struct fixture *f = *state;
	struct crowd c = { .f = f };
	pthread_t threads[WRITERS];
	struct batch_place at;
	struct reading reading;
	struct err e = { 0 };
	uint64_t size;

	toy_fixture_open(&f->base);
	for (size_t i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, write_until_closed, &c);
	while (c.written < 3 * WRITERS)
		usleep(1000);
	assert_null(end(f, SECOND));
	for (size_t i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(c.refused, WRITERS);
	assert_int_equal(c.wrong, 0);
	size = toy_fixture_size(&f->base);
	assert_int_equal(size, 2 + (uint64_t)c.written);
	assert_int_equal(ledger_read_begin(f->base.ledger, &reading, &e), 0);
	assert_int_equal(
	    ledger_read_batch_place(&reading, size - 1, &at, &e), 0);
	assert_int_equal(at.first, size - 1);
	assert_int_equal(at.count, 1);
	ledger_read_end(&reading);
	toy_fixture_close(&f->base);
	assert_true(verify(f, "ledger").good);
}

/* The successor begins with the newest note of the closed ledger. */
static int
read_note(void *arg, struct reading *reading, struct err *e)
{
	struct fixture *f = arg;
	struct rows r;

	if (db_query(reading->db, &r, e,
		"SELECT text FROM toy ORDER BY id DESC LIMIT 1", ""))
		return -1;
	if (rows_next(&r, e) == 1)
		f->carried = rows_str(&r, 0, f->base.a);
	return rows_end(&r, e);
}

static int
begin_with_note(struct tx *tx, void *arg, struct err *e)
{
	struct fixture *f = arg;
	struct toy_noted data = { .id = 1, .text = f->carried };
	int64_t n;

	if (db_get_int(tx_db(tx), &n, 0, e, "SELECT count(*) FROM toy", ""))
		return -1;
	return n > 0 ? 0
		     : tx_emit(tx, &event_toy_noted, "toy", tx_uid(tx), &data,
			   NULL, 0, e);
}

static struct succession
succession(struct fixture *f, const char *successor)
{
	return (struct succession){
		.place = &f->base.toy.options,
		.actor = tester,
		.closing = { .reason = STR("moving"),
		    .successor = str_from(successor) },
		.read = read_note,
		.begin = begin_with_note,
		.arg = f,
	};
}

static struct succession_report
succeed(struct fixture *f, const char *successor)
{
	struct succession s = succession(f, successor);
	struct succession_report r;
	struct err e = { 0 };

	if (ledger_succeed(&s, &r, &e))
		fail_msg("ledger_succeed: %s", e.detail);
	return r;
}

static const struct err_kind *
refused(struct fixture *f, const char *successor)
{
	struct succession s = succession(f, successor);
	struct succession_report r;
	struct err e = { 0 };

	assert_int_equal(ledger_succeed(&s, &r, &e), -1);
	print_message("%s\n", e.detail);
	return e.kind;
}

/* What the second says of the first, or NULL when it continues it. */
static struct verify_report
continued(struct fixture *f, const char *newer, const char *old)
{
	struct verify_options o = { .own_key = true, .threads = 1 };
	struct verify_report n = verify(f, newer), r;
	struct err e = { 0 };

	assert_true(n.good);
	if (verify_continued(repo_at(f, old), &o, &n, &r, &e))
		fail_msg("verify_continued: %s", e.detail);
	return r;
}

static bool
is_there(struct fixture *f, const char *name)
{
	return access(arena_printf(f->base.a, "%s/%s", f->base.toy.dir, name),
		   F_OK) == 0;
}

static void
assert_succeeded(struct fixture *f, const struct succession_report *r)
{
	struct verify_report old = continued(f, "ledger", "ledger.closed/1");
	struct public_key key;

	assert_true(old.good);
	assert_true(old.closed);
	assert_int_equal(old.size, 4); /* opened, two notes, closed */
	assert_string_equal(r->closed.origin, FIRST);
	assert_string_equal(r->origin, SECOND);
	assert_int_equal(r->closed.size, old.size);
	assert_true(digest_eq(r->closed.root, old.root));
	assert_true(digest_eq(r->closed.head, old.head));
	assert_int_equal(r->generation, 1);
	assert_true(is_there(f, "keys.closed/1/signing.key"));
	assert_true(is_there(f, "keys/signing.key"));
	assert_false(is_there(f, "keys.successor"));
	assert_false(is_there(f, "ledger.successor"));
	toy_fixture_open(&f->base);
	key = ledger_public_key(f->base.ledger);
	assert_true(public_key_eq(key, r->key));
	assert_int_equal(toy_fixture_size(&f->base), 2); /* opened, the note */
	assert_null(note(f, "goes on"));
	toy_fixture_close(&f->base);
}

/* Whatever step was the last one before the end. */
static void
test_every_step_can_be_the_last(void **state)
{
	(void)state;
	for (size_t n = 0; n <= succession_steps; n++) {
		struct fixture *f;
		struct succession s;
		struct succession_report r;
		struct err e = { 0 };

		setup((void **)&f);
		toy_fixture_open(&f->base);
		assert_null(note(f, "one"));
		assert_null(note(f, "two"));
		toy_fixture_close(&f->base);
		s = succession(f, SECOND);
		if (succession_run(&s, n, &e))
			fail_msg("step %zu: %s", n, e.detail);
		r = succeed(f, SECOND);
		assert_succeeded(f, &r);
		/* Once more: it was done. */
		r = succeed(f, SECOND);
		toy_fixture_open(&f->base);
		assert_int_equal(toy_fixture_size(&f->base), 3);
		toy_fixture_tear_down((void **)&f);
	}
}

/* The end came while the successor was made. */
static void
test_a_successor_made_by_half_is_finished(void **state)
{
	struct fixture *f = *state;
	struct succession s = succession(f, SECOND);
	struct succession_report r;
	struct err e = { 0 };
	const char *dir = f->base.toy.dir;

	toy_fixture_open(&f->base);
	assert_null(note(f, "one"));
	assert_null(note(f, "two"));
	toy_fixture_close(&f->base);
	s.begin = NULL;
	assert_int_equal(succession_run(&s, 2, &e), 0);
	/* Keys, and nothing else yet. */
	assert_int_equal(
	    rename(arena_printf(f->base.a, "%s/ledger.successor", dir),
		arena_printf(f->base.a, "%s/aside", dir)),
	    0);
	assert_int_equal(
	    unlink(arena_printf(f->base.a, "%s/keys.successor/signed", dir)),
	    0);
	assert_int_equal(succession_run(&s, 2, &e), 0);
	/* Event 0, and nothing that it begins with. */
	r = succeed(f, SECOND);
	assert_succeeded(f, &r);
}

static void
test_between_two_ledgers_there_is_none(void **state)
{
	struct fixture *f = *state;
	struct succession s = succession(f, SECOND);

	for (size_t n = 3; n < succession_steps; n++) {
		struct err e = { 0 }, again = { 0 };

		if (succession_run(&s, n, &e))
			fail_msg("%s", e.detail);
		assert_int_equal(
		    succession_check(f->base.toy.ledger_dir, &e), -1);
		assert_ptr_equal(e.kind, &err_unavailable);
		assert_int_equal(toy_make(&f->base.toy, &again), -1);
		assert_ptr_equal(again.kind, &err_unavailable);
	}
	succeed(f, SECOND);
	assert_int_equal(succession_check(f->base.toy.ledger_dir, NULL), 0);
}

/* Who had it open does not take one for the other. */
static void
test_an_object_of_before_does_nothing_more(void **state)
{
	struct fixture *f = *state;
	struct reading reading;
	struct ledger *before;
	struct err e = { 0 };

	toy_fixture_open(&f->base);
	assert_null(note(f, "one"));
	before = f->base.ledger;
	assert_false(ledger_is_moved(before));
	succeed(f, SECOND);
	assert_true(ledger_is_moved(before));
	assert_ptr_equal(note(f, "lost?"), &err_unavailable);
	assert_int_equal(ledger_read_begin(before, &reading, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	ledger_close(before);
	toy_fixture_open(&f->base);
	assert_int_equal(toy_fixture_size(&f->base), 2);
	toy_fixture_close(&f->base);
	assert_true(continued(f, "ledger", "ledger.closed/1").good);
}

static void
test_another_successor_is_refused(void **state)
{
	struct fixture *f = *state;
	struct succession s = succession(f, SECOND);
	struct err e = { 0 };

	assert_ptr_equal(refused(f, FIRST), &err_invalid);
	assert_int_equal(succession_run(&s, 1, &e), 0);
	assert_ptr_equal(refused(f, THIRD), &err_conflict);
	succeed(f, SECOND);
}

static void
test_a_stranger_in_the_successors_place_is_refused(void **state)
{
	struct fixture *f = *state;
	struct ledger_options o = f->base.toy.options;
	struct err e = { 0 };

	o.dir = arena_printf(f->base.a, "%s/ledger.successor", f->base.toy.dir);
	o.keys_dir =
	    arena_printf(f->base.a, "%s/keys.successor", f->base.toy.dir);
	o.origin = STR(SECOND);
	assert_int_equal(ledger_create(&o, &tester, &e), 0);
	assert_ptr_equal(refused(f, SECOND), &err_conflict);
	toy_fixture_open(&f->base);
	assert_ptr_equal(note(f, "closed"), &err_ledger_closed);
}

static void
test_generations(void **state)
{
	struct fixture *f = *state;
	struct succession_report r;
	struct verify_report wrong;

	succeed(f, SECOND);
	r = succeed(f, THIRD);
	assert_int_equal(r.generation, 2);
	assert_string_equal(r.closed.origin, SECOND);
	assert_true(continued(f, "ledger", "ledger.closed/2").good);
	assert_true(continued(f, "ledger.closed/2", "ledger.closed/1").good);
	wrong = continued(f, "ledger", "ledger.closed/1");
	assert_false(wrong.good);
	assert_string_equal(wrong.check, CHECK_SUCCESSION);
	assert_non_null(strstr(wrong.reason, "continues " SECOND));
	wrong = continued(f, "ledger.closed/1", "ledger.closed/2");
	assert_false(wrong.good);
	assert_non_null(strstr(wrong.reason, "continues no other"));
	wrong = continued(f, "ledger.closed/2", "ledger");
	assert_false(wrong.good);
}

/* A ledger that says of itself, signed, that it continues this one. */
static struct verify_report
claims(struct fixture *f, const struct continued *c, const char *origin)
{
	struct ledger_options o = f->base.toy.options;
	static int number;
	const char *name = arena_printf(f->base.a, "claim-%d", number++);
	struct verify_report r;
	struct err e = { 0 };

	o.dir = arena_printf(f->base.a, "%s/%s", f->base.toy.dir, name);
	o.keys_dir =
	    arena_printf(f->base.a, "%s/%s-keys", f->base.toy.dir, name);
	o.origin = str_from(origin);
	o.continues = c;
	if (ledger_create(&o, &tester, &e))
		fail_msg("ledger_create: %s", e.detail);
	r = continued(f, name, "ledger");
	if (!r.good)
		assert_string_equal(r.check, CHECK_SUCCESSION);
	return r;
}

static void
test_a_claim_that_is_not_true_is_refused(void **state)
{
	struct fixture *f = *state;
	struct verify_report old;
	struct continued c = { .any = true, .origin = FIRST }, d;

	toy_fixture_open(&f->base);
	assert_null(note(f, "one"));
	toy_fixture_close(&f->base);
	old = verify(f, "ledger");
	c.size = old.size;
	c.root = old.root;
	c.head = old.head;
	/* All true, but it was never closed. */
	assert_non_null(strstr(claims(f, &c, SECOND).reason, "is not closed"));
	toy_fixture_open(&f->base);
	assert_null(end(f, SECOND));
	toy_fixture_close(&f->base);
	assert_non_null(strstr(claims(f, &c, SECOND).reason, "it has 3"));
	old = verify(f, "ledger");
	c.size = old.size;
	c.root = old.root;
	c.head = old.head;
	assert_true(claims(f, &c, SECOND).good);
	assert_non_null(strstr(claims(f, &c, THIRD).reason, "does not name"));
	d = c;
	d.root.b[0] ^= 1;
	assert_non_null(strstr(claims(f, &d, SECOND).reason, "another root"));
	d = c;
	d.head.b[0] ^= 1;
	assert_non_null(
	    strstr(claims(f, &d, SECOND).reason, "another last event"));
	d = c;
	d.size++;
	assert_non_null(strstr(claims(f, &d, SECOND).reason, "at 4 events"));
	memcpy(d.origin, THIRD, sizeof THIRD);
	assert_non_null(strstr(claims(f, &d, SECOND).reason, "not " FIRST));
}

/* A closed ledger is a ledger: opened, read, made anew where it lies. */
static void
test_a_closed_ledger_is_read_where_it_lies(void **state)
{
	struct fixture *f = *state;

	toy_fixture_open(&f->base);
	assert_null(note(f, "one"));
	toy_fixture_close(&f->base);
	succeed(f, SECOND);
	f->base.toy.options.dir =
	    arena_printf(f->base.a, "%s/ledger.closed/1", f->base.toy.dir);
	f->base.toy.options.keys_dir =
	    arena_printf(f->base.a, "%s/keys.closed/1", f->base.toy.dir);
	toy_fixture_open(&f->base);
	assert_int_equal(toy_fixture_size(&f->base), 3);
	assert_ptr_equal(note(f, "two"), &err_ledger_closed);
	toy_fixture_close(&f->base);
	toy_fixture_assert_rebuilds(&f->base);
}

#define WITH(t) cmocka_unit_test_setup_teardown(t, setup, toy_fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector),
		WITH(test_nothing_follows_the_last_event),
		WITH(test_successor_is_another_ledger),
		WITH(test_closing_has_a_batch_to_itself),
		cmocka_unit_test(test_every_step_can_be_the_last),
		WITH(test_a_successor_made_by_half_is_finished),
		WITH(test_between_two_ledgers_there_is_none),
		WITH(test_an_object_of_before_does_nothing_more),
		WITH(test_another_successor_is_refused),
		WITH(test_a_stranger_in_the_successors_place_is_refused),
		WITH(test_generations),
		WITH(test_a_claim_that_is_not_true_is_refused),
		WITH(test_a_closed_ledger_is_read_where_it_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
