#include "tests/support/toy_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *
toy_fixture_new(size_t size)
{
	struct toy_fixture *f = calloc(1, size);

	assert_non_null(f);
	toy_create(&f->toy, NULL);
	f->a = arena_new();
	snprintf(f->repo, sizeof f->repo, "%s/ledger.git", f->toy.ledger_dir);
	return f;
}

int
toy_fixture_tear_down(void **state)
{
	struct toy_fixture *f = *state;

	toy_fixture_close(f);
	arena_free(f->a);
	toy_remove(&f->toy);
	free(f);
	return 0;
}

int
toy_fixture_set_up(void **state)
{
	struct toy_fixture *f = toy_fixture_new(sizeof *f);

	toy_fixture_open(f);
	*state = f;
	return 0;
}

void
toy_fixture_open(struct toy_fixture *f)
{
	struct err e = { 0 };

	if (ledger_open(&f->toy.options, &f->ledger, &e))
		fail_msg("ledger_open: %s", e.detail);
	f->key = ledger_public_key(f->ledger);
}

void
toy_fixture_close(struct toy_fixture *f)
{
	ledger_close(f->ledger);
	f->ledger = NULL;
}

struct receipt
toy_fixture_note(struct toy_fixture *f, const char *text)
{
	struct err e = { 0 };
	struct receipt r;

	if (toy_note(f->ledger, f->a, str_from(text), &r, &e))
		fail_msg("toy_note: %s", e.detail);
	return r;
}

void
toy_fixture_notes(struct toy_fixture *f, int n)
{
	for (int i = 0; i < n; i++)
		toy_fixture_note(f, "a note");
}

const struct err_kind *
toy_fixture_try_note(struct toy_fixture *f, const char *text, struct err *e)
{
	struct receipt r;

	*e = (struct err){ 0 };
	return toy_note(f->ledger, f->a, str_from(text), &r, e) ? e->kind
								: NULL;
}

uint64_t
toy_fixture_size(struct toy_fixture *f)
{
	struct reading r;
	struct err e = { 0 };
	uint64_t size;

	assert_int_equal(ledger_read_begin(f->ledger, &r, &e), 0);
	assert_int_equal(ledger_read_size(&r, &size, &e), 0);
	ledger_read_end(&r);
	return size;
}

struct verify_report
toy_fixture_verify(
    struct toy_fixture *f, struct public_key key, uint64_t from_seq)
{
	struct verify_options o = { .key = key, .from_seq = from_seq };
	struct verify_report r;
	struct err e = { 0 };

	if (verify_ledger(f->repo, &o, &r, &e))
		fail_msg("verify_ledger: %s", e.detail);
	return r;
}

uint64_t
toy_fixture_assert_verifies(struct toy_fixture *f, struct public_key key)
{
	struct verify_report r = toy_fixture_verify(f, key, 0);

	if (!r.good)
		fail_msg("event %" PRIu64 ", %s: %s", r.failed_seq, r.check,
		    r.reason);
	return r.size;
}

uint64_t
toy_fixture_rebuild(struct toy_fixture *f)
{
	struct err e = { 0 };
	uint64_t events;

	if (ledger_rebuild(&f->toy.options, NULL, NULL, &events, &e))
		fail_msg("ledger_rebuild: %s", e.detail);
	return events;
}

uint64_t
toy_fixture_assert_rebuilds(struct toy_fixture *f)
{
	struct digest before = toy_hash_view(f->toy.options.dir);
	uint64_t events = toy_fixture_rebuild(f);

	assert_true(digest_eq(before, toy_hash_view(f->toy.options.dir)));
	return events;
}

void
toy_fixture_remove_view(struct toy_fixture *f)
{
	assert_int_equal(
	    unlink(arena_printf(f->a, "%s/state.db", f->toy.ledger_dir)), 0);
}
