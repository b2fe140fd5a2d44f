/*
 * The index as the writer keeps it: its root in every commit, held against the
 * naive writing of the definition and against the verifier's own; its pages for
 * readers; and what becomes of it when the read model is made anew or damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/write/index.h"
#include "tests/support/event_vector.h"
#include "tests/support/naive_index.h"
#include "tests/support/toy_fixture.h"

#define EVENTS_MAX 4096
#define RECORDS    1500

struct fixture {
	struct toy_fixture base;
	struct index_event events[EVENTS_MAX];
	size_t n;
	uint32_t random;
};

static int
setup(void **state)
{
	struct fixture *f = toy_fixture_new(sizeof *f);

	toy_fixture_open(&f->base);
	*state = f;
	return 0;
}

static void
note_event(struct fixture *f, const struct event *ev)
{
	f->events[f->n++] =
	    (struct index_event){ arena_str(f->base.a, ev->subject_kind),
		    ev->subject, ev->hash };
}

static int
submit(struct fixture *f, int (*decide)(struct tx *, void *, struct err *),
    void *arg, struct err *e)
{
	struct command c = { .decide = decide,
		.arg = arg,
		.actor = { .kind = STR("operator"), .id = STR("tester") },
		.arena = f->base.a };
	struct receipt r;

	if (ledger_submit(f->base.ledger, &c, &r, e))
		return -1;
	for (size_t i = 0; i < r.n; i++)
		note_event(f, &r.events[i].event);
	return 0;
}

static int
decide_begin(struct tx *tx, void *arg, struct err *e)
{
	(void)arg;
	return ledger_begin_index(tx, e);
}

static void
note_first(struct fixture *f)
{
	struct reading r;
	struct stored_event first;
	struct err e = { 0 };

	assert_int_equal(ledger_read_begin(f->base.ledger, &r, &e), 0);
	assert_int_equal(ledger_read_event(&r, 0, f->base.a, &first, &e), 0);
	note_event(f, &first.recorded.event);
	ledger_read_end(&r);
}

/* With the first event noted, which the ledger's creation made. */
static void
begin(struct fixture *f)
{
	struct err e = { 0 };

	note_first(f);
	assert_int_equal(submit(f, decide_begin, NULL, &e), 0);
}

static uint32_t
next_random(struct fixture *f)
{
	f->random = f->random * 1664525u + 1013904223u;
	return f->random >> 8;
}

static struct uid
uid_of_record(uint32_t n)
{
	struct digest d = sha256((struct str){ (const char *)&n, sizeof n });
	struct uid u;

	memcpy(u.b, d.b, sizeof u.b);
	return u;
}

/* Events of any type may be about any record: here all are announcements. */
static int
decide_many(struct tx *tx, void *arg, struct err *e)
{
	static const char *const kinds[] = { "a", "b_c", "zz" };
	struct ledger_indexed data = { STR(INDEX_FORMAT) };
	struct fixture *f = arg;

	for (int i = 0; i < 200; i++) {
		uint32_t n = next_random(f) % RECORDS;

		if (tx_emit(tx, &event_ledger_indexed, kinds[n % 3],
			uid_of_record(n), &data, NULL, 0, e))
			return -1;
	}
	return 0;
}

static void
add_many(struct fixture *f)
{
	struct err e = { 0 };

	if (submit(f, decide_many, f, &e))
		fail_msg("%s", e.detail);
}

/* What the newest commit says. */
static struct trailers
newest(struct fixture *f, struct index_proof *proof,
    const struct index_range *range)
{
	struct trailers t;
	struct reading r;
	struct commit c;
	struct err e = { 0 };

	assert_int_equal(ledger_read_begin(f->base.ledger, &r, &e), 0);
	if (ledger_read_index(&r, range, f->base.a, proof, &e))
		fail_msg("%s", e.detail);
	ledger_read_end(&r);
	assert_int_equal(commit_parse(f->base.a, proof->commit, &c, &e), 0);
	assert_int_equal(trailers_parse(c.message, &t, &e), 0);
	assert_true(t.has_index);
	assert_int_equal(t.size, proof->size);
	return t;
}

static struct index_range
range_of(const char *kind)
{
	struct uid none = { { 0 } };
	struct index_range r;

	assert_int_equal(
	    index_range_of_kind(&r, str_from(kind), none, none, NULL), 0);
	return r;
}

static void
assert_as_defined(struct fixture *f)
{
	struct index_range range = range_of("b_c");
	struct naive_index *x = naive_index_new(f->base.a, f->events, f->n);
	struct index_proof proof;
	struct trailers t = newest(f, &proof, &range);
	const struct str *pages;
	size_t n;

	assert_int_equal(proof.size, f->n);
	assert_true(digest_eq(t.index, naive_index_root(x)));
	pages = naive_index_prove(x, &range, &n);
	assert_int_equal(proof.n, n);
	for (size_t i = 0; i < n; i++)
		assert_true(str_eq(proof.pages[i], pages[i]));
}

/* Single events, whole batches, records old and new in no order. */
static void
test_kept_as_defined(void **state)
{
	struct fixture *f = *state;

	begin(f);
	assert_as_defined(f);
	for (int i = 0; i < 12; i++) {
		struct receipt r;

		add_many(f);
		r = toy_fixture_note(&f->base, "x");
		note_event(f, &r.events[0].event);
		if (i < 3 || i == 11)
			assert_as_defined(f);
	}
	toy_fixture_assert_verifies(&f->base, f->base.key);
}

static void
test_announced_once(void **state)
{
	struct fixture *f = *state;
	struct index_range range = range_of("a");
	struct index_proof proof;
	struct reading r;
	struct err e = { 0 };

	event_vector_check(&event_ledger_indexed);
	assert_int_equal(ledger_read_begin(f->base.ledger, &r, &e), 0);
	assert_int_equal(
	    ledger_read_index(&r, &range, f->base.a, &proof, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	ledger_read_end(&r);
	err_clear(&e);
	begin(f);
	assert_int_equal(submit(f, decide_begin, NULL, &e), 0);
	assert_int_equal(f->n, 2);
	toy_fixture_assert_verifies(&f->base, f->base.key);
}

/* It is over all events, also those from before. */
static void
test_announced_late(void **state)
{
	struct fixture *f = *state;
	struct receipt r;
	struct err e = { 0 };

	note_first(f);
	for (int i = 0; i < 300; i++) {
		r = toy_fixture_note(&f->base, "x");
		note_event(f, &r.events[0].event);
	}
	assert_int_equal(submit(f, decide_begin, NULL, &e), 0);
	assert_as_defined(f);
	toy_fixture_assert_verifies(&f->base, f->base.key);
}

static void
test_made_anew(void **state)
{
	struct fixture *f = *state;

	begin(f);
	for (int i = 0; i < 5; i++)
		add_many(f);
	toy_fixture_close(&f->base);
	assert_int_equal(toy_fixture_assert_rebuilds(&f->base), f->n);
	toy_fixture_remove_view(&f->base);
	toy_fixture_open(&f->base);
	assert_as_defined(f);
	add_many(f);
	assert_as_defined(f);
	toy_fixture_assert_verifies(&f->base, f->base.key);
}

static void
run_sql(struct fixture *f, const char *sql)
{
	char *command = arena_printf(f->base.a, "sqlite3 '%s/state.db' \"%s\"",
	    f->base.toy.ledger_dir, sql);

	assert_int_equal(system(command), 0);
}

/* Pages of a table that somebody has changed are not those of the commit. */
static void
test_damaged_rows(void **state)
{
	static const char *const damages[] = {
		"DELETE FROM ledger_index WHERE level = 0 AND key ="
		" (SELECT max(key) FROM ledger_index WHERE level = 0"
		" AND key < 'b_d')",
		"UPDATE ledger_index SET count = count + 1 WHERE level = 0 AND"
		" key LIKE 'b_c %'",
		"DELETE FROM ledger_index WHERE level = 1 AND key ="
		" (SELECT max(key) FROM ledger_index WHERE level = 1"
		" AND key < 'b_d')",
	};
	struct fixture *f = *state;
	struct index_range range = range_of("b_c");
	const struct index_row *rows;
	struct index_proof proof;
	struct trailers t;
	size_t n;
	struct err e = { 0 };

	begin(f);
	for (int i = 0; i < 4; i++)
		add_many(f);
	t = newest(f, &proof, &range);
	assert_int_equal(index_proof_check(f->base.a, t.index, proof.pages,
			     proof.n, &range, &rows, &n, &e),
	    0);
	assert_in_range(n, 100, 500);
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		run_sql(f, "CREATE TABLE kept AS SELECT * FROM ledger_index");
		run_sql(f, damages[i]);
		newest(f, &proof, &range);
		assert_int_equal(
		    index_proof_check(f->base.a, t.index, proof.pages, proof.n,
			&range, &rows, &n, &e),
		    -1);
		assert_ptr_equal(e.kind, &err_corrupt);
		err_clear(&e);
		run_sql(f, "DELETE FROM ledger_index; INSERT INTO ledger_index"
			   " SELECT * FROM kept; DROP TABLE kept");
	}
}

static void
test_records(void **state)
{
	struct fixture *f = *state;
	struct index_range range = range_of("b_c");
	struct index_record *found;
	const struct index_row *rows;
	struct index_proof proof;
	struct trailers t;
	struct reading r;
	size_t n, n_rows;
	struct err e = { 0 };

	begin(f);
	add_many(f);
	t = newest(f, &proof, &range);
	assert_int_equal(index_proof_check(f->base.a, t.index, proof.pages,
			     proof.n, &range, &rows, &n_rows, &e),
	    0);
	assert_int_equal(ledger_read_begin(f->base.ledger, &r, &e), 0);
	assert_int_equal(
	    ledger_read_records(&r, &range, 1000, f->base.a, &found, &n, &e),
	    0);
	assert_int_equal(n, n_rows);
	for (size_t i = 0; i < n; i++) {
		struct index_key key;

		index_key_set(&key, STR("b_c"), found[i].uid, NULL);
		assert_true(str_eq(index_key_str(&key), rows[i].key));
		assert_int_equal(found[i].events, rows[i].count);
		assert_true(digest_eq(found[i].chain, rows[i].hash));
	}
	assert_int_equal(
	    ledger_read_records(&r, &range, 7, f->base.a, &found, &n, &e), 0);
	assert_int_equal(n, 7);
	ledger_read_end(&r);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, toy_fixture_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_kept_as_defined),
		TEST(test_announced_once),
		TEST(test_announced_late),
		TEST(test_made_anew),
		TEST(test_damaged_rows),
		TEST(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
