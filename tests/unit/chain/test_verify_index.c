/*
 * The trailer Ledger-Index: from its announcement on, verification holds every
 * commit's against the index over all events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/naive_index.h"
#include "tests/support/verdict.h"

#define EVENTS 64

/* A ledger, and what its index is about. */
struct fixture {
	struct small_ledger *l;
	struct index_event events[EVENTS];
	size_t n;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->l = small_ledger_new();
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	small_ledger_free(f->l);
	free(f);
	return 0;
}

/* Of event 0, which small_ledger_new made. */
static void
note_first(struct fixture *f)
{
	struct uid subject;
	struct batch b;
	struct event ev;
	struct batch_line line;
	struct err e = { 0 };

	assert_int_equal(
	    batch_read(f->l->repo, f->l->parent, f->l->a, &b, &e), 0);
	assert_int_equal(batch_line_next(&b.events, &line, &e), 1);
	assert_int_equal(event_parse(f->l->a, line.event, &ev, &e), 0);
	subject = ev.subject;
	f->events[f->n++] =
	    (struct index_event){ STR("ledger"), subject, ev.hash };
}

static void
note_batch(struct fixture *f, const struct parts *p)
{
	if (f->n == 0)
		note_first(f);
	for (size_t i = 0; i < p->n; i++)
		f->events[f->n++] =
		    (struct index_event){ p->events[i].subject_kind,
			    p->events[i].subject, p->events[i].hash };
}

static struct digest
root_of(struct fixture *f)
{
	return naive_index_root(naive_index_new(f->l->a, f->events, f->n));
}

static void
add_trailer(struct fixture *f, struct parts *p, struct digest root)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(root, hex);
	p->message = arena_strf(
	    f->l->a, "%.*sLedger-Index: %s\n", STR_ARGS(p->message), hex);
}

static void
announce(struct fixture *f, struct event *ev, const char *format)
{
	struct json *data = json_object(f->l->a);

	ev->type = STR(TYPE_INDEXED);
	ev->subject_kind = STR("ledger");
	json_put_str(f->l->a, data, "format", str_from(format));
	ev->data = data;
}

enum { TRAILER_NONE, TRAILER_GOOD, TRAILER_OF_BEFORE };

/* Three events, the second and third about one record. */
static void
add_batch(struct fixture *f, const char *announced, int trailer)
{
	struct parts p = small_ledger_draft(f->l, 3);
	struct digest before;

	p.events[2].subject = p.events[1].subject;
	if (announced)
		announce(f, &p.events[0], announced);
	before = f->n ? root_of(f) : index_empty();
	small_ledger_seal_parts(f->l, &p);
	note_batch(f, &p);
	if (trailer == TRAILER_GOOD)
		add_trailer(f, &p, root_of(f));
	else if (trailer == TRAILER_OF_BEFORE)
		add_trailer(f, &p, before);
	small_ledger_write(f->l, &p);
}

static void
test_good(void **state)
{
	struct fixture *f = *state;
	struct verify_report r;

	add_batch(f, NULL, TRAILER_NONE);
	/* Before the announcement the trailer says nothing. */
	add_batch(f, NULL, TRAILER_OF_BEFORE);
	add_batch(f, INDEX_FORMAT, TRAILER_GOOD);
	for (int i = 0; i < 10; i++)
		add_batch(f, NULL, TRAILER_GOOD);
	r = verify_full(f->l);
	assert_good(&r);
	assert_int_equal(r.size, 1 + 13 * 3);
}

static void
test_missing(void **state)
{
	struct fixture *f = *state;
	struct verify_report r;

	add_batch(f, INDEX_FORMAT, TRAILER_GOOD);
	add_batch(f, NULL, TRAILER_NONE);
	add_batch(f, NULL, TRAILER_GOOD);
	r = verify_full(f->l);
	assert_bad(&r, "index", 4, "is missing");
}

static void
test_missing_where_announced(void **state)
{
	struct fixture *f = *state;
	struct verify_report r;

	add_batch(f, INDEX_FORMAT, TRAILER_NONE);
	r = verify_full(f->l);
	assert_bad(&r, "index", 1, "is missing");
}

static void
test_wrong(void **state)
{
	struct fixture *f = *state;
	struct verify_options o = { .key = f->l->key, .quick = true };
	struct verify_report r;

	add_batch(f, INDEX_FORMAT, TRAILER_GOOD);
	add_batch(f, NULL, TRAILER_GOOD);
	add_batch(f, NULL, TRAILER_OF_BEFORE);
	add_batch(f, NULL, TRAILER_GOOD);
	r = verify_full(f->l);
	assert_bad(&r, "index", 7, "is not the root");
	r = verify_with(f->l, &o);
	assert_bad(&r, "index", 7, "is not the root");
	/* What came before is not known then. */
	o.from_seq = 4;
	r = verify_with(f->l, &o);
	assert_good(&r);
}

/* An index of a form to come is not ours to check. */
static void
test_other_format(void **state)
{
	struct fixture *f = *state;
	struct verify_report r;

	add_batch(f, "probity-index/v2", TRAILER_OF_BEFORE);
	add_batch(f, NULL, TRAILER_NONE);
	r = verify_full(f->l);
	assert_good(&r);
}

static void
test_twice(void **state)
{
	struct fixture *f = *state;
	struct parts p = small_ledger_draft(f->l, 1);
	struct verify_report r;

	small_ledger_seal_parts(f->l, &p);
	add_trailer(f, &p, index_empty());
	add_trailer(f, &p, index_empty());
	small_ledger_write(f->l, &p);
	r = verify_full(f->l);
	assert_bad(&r, "commit", 1, "Ledger-Index is there twice");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_good),
		TEST(test_missing),
		TEST(test_missing_where_announced),
		TEST(test_wrong),
		TEST(test_other_format),
		TEST(test_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
