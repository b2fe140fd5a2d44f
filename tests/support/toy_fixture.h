/*
 * A toy ledger for one cmocka test, and what such tests do with it again and
 * again. Where a function cannot do its work, the test fails. A fixture that
 * holds more begins with this one:
 *
 *	struct fixture {
 *		struct toy_fixture base;
 *		char backup[400];
 *	};
 *
 *	struct fixture *f = toy_fixture_new(sizeof *f);
 *	toy_fixture_open(&f->base);
 *	toy_fixture_note(&f->base, "a note");
 *	*state = f;	// for toy_fixture_tear_down
 */
#ifndef TESTS_SUPPORT_TOY_FIXTURE_H
#define TESTS_SUPPORT_TOY_FIXTURE_H

#include "ledger/chain/verify.h"
#include "tests/support/toy.h"

struct toy_fixture {
	struct toy toy;
	struct ledger *ledger; /* NULL: not open */
	struct public_key key; /* in force when it was last opened */
	struct arena *a;
	char repo[400];
};

/* Of this many bytes, zero but for the toy_fixture that they begin with: its
 * ledger is made and not open. */
void *toy_fixture_new(size_t size);

/* The ledger closed, its folder removed, all bytes freed. */
int toy_fixture_tear_down(void **state);

/* For tests that need nothing more: a toy_fixture with its ledger open. */
int toy_fixture_set_up(void **state);
#define WITH_TOY(test)                   \
	cmocka_unit_test_setup_teardown( \
	    test, toy_fixture_set_up, toy_fixture_tear_down)

void toy_fixture_open(struct toy_fixture *);

/* Does nothing when it is not open. */
void toy_fixture_close(struct toy_fixture *);

/* Writes one note, or n of the same text. */
struct receipt toy_fixture_note(struct toy_fixture *, const char *text);
void toy_fixture_notes(struct toy_fixture *, int n);

/* Tries to: what refused it, with its detail in *e, or NULL. */
const struct err_kind *toy_fixture_try_note(
    struct toy_fixture *, const char *text, struct err *e);

/* How many events an open ledger has. */
uint64_t toy_fixture_size(struct toy_fixture *);

/* What verification from this event on says of it. */
struct verify_report toy_fixture_verify(
    struct toy_fixture *, struct public_key, uint64_t from_seq);

/* That all of it verifies by this key; how many events it has. */
uint64_t toy_fixture_assert_verifies(struct toy_fixture *, struct public_key);

/* Makes the read model anew; from how many events. */
uint64_t toy_fixture_rebuild(struct toy_fixture *);

/* And that it is the same, row for row. */
uint64_t toy_fixture_assert_rebuilds(struct toy_fixture *);

/* Removes the read model of a ledger that is not open. */
void toy_fixture_remove_view(struct toy_fixture *);

#endif
