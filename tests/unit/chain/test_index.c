/*
 * The index: against roots that another program made, and against a naive
 * writing of the definition, in whatever order the events come; what its
 * proofs show, and what they refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/chain/index_list.h"
#include "tests/support/naive_index.h"

#define EVENTS  3000
#define RECORDS 997

static struct uid
uid_numbered(uint32_t n)
{
	struct uid u = { { 0x01, 0x9b, 0x7c, 0xa9, 0x90, 0x70, 0x70, 0,
	    0x80 } };

	for (int i = 0; i < 4; i++)
		u.b[12 + i] = (uint8_t)(n >> (24 - 8 * i));
	return u;
}

/* The same records come again and again, in no order. */
static struct index_event
event_numbered(uint32_t n)
{
	static const char *const kinds[] = { "action", "action_plan", "zebra" };
	uint32_t record = n * 2654435761u % RECORDS;

	return (struct index_event){ str_from(kinds[record % 3]),
		uid_numbered(record),
		sha256((struct str){ (const char *)&n, sizeof n }) };
}

static void
assert_same(struct digest got, struct digest expected)
{
	assert_memory_equal(got.b, expected.b, DIGEST_BYTES);
}

static struct digest
root_of(struct index_list *l)
{
	struct digest d;
	struct err e = { 0 };

	assert_int_equal(index_list_root(l, &d, &e), 0);
	return d;
}

static void
add(struct index_list *l, struct index_event ev)
{
	struct err e = { 0 };

	assert_int_equal(index_list_add(l, &ev, &e), 0);
}

/* Made with Python's hashlib from the definition; event i's hash is that of
 * "event <i>". Record 0x24 has height 1, 0x1ff 2, the others 0. */
struct example {
	size_t n;
	struct {
		const char *kind;
		uint32_t number;
	} events[8];
	const char *root;
};
static const struct example examples[] = {
	{ .n = 0,
	    .root = "943bcfa4fd27bb253ab6fc90657b9eef"
		    "a139796596253b4d14483a42aa4e7210" },
	{ 1, { { "ledger", 1 } },
	    "2ccab5f05b92019b9f05cd98da5efb10"
	    "7d1e7f5eddd06e3cc113ba090e7c8af6" },
	{ 4,
	    { { "ledger", 1 }, { "action", 0x25 }, { "action", 1 },
		{ "action", 0x25 } },
	    "e8ec0851200a953fdda89ab903b7213f"
	    "6c51ae8d3b8163214c96ef99c308b150" },
	{ 5,
	    { { "action", 0x24 }, { "ledger", 1 }, { "action", 0x25 },
		{ "action", 1 }, { "action", 0x25 } },
	    "6f1a55541584740d9758f506a450516d"
	    "87221294208a61dd43fca4294fa1a637" },
	{ 8,
	    { { "action", 0x24 }, { "ledger", 1 }, { "action", 0x25 },
		{ "action", 1 }, { "action", 0x25 }, { "action", 0x1ff },
		{ "action", 0x200 }, { "zebra", 0 } },
	    "d566e5ae9461e47a0c57060086c6dc6f"
	    "2d928cf6c3f1cc87391fc27b96c1559e" },
};

static void
test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const struct example *x = &examples[i];
		struct index_list *l = index_list_new();
		struct arena *a = arena_new();
		struct index_event events[8];
		struct digest expected;

		for (uint32_t k = 0; k < x->n; k++) {
			events[k] =
			    (struct index_event){ str_from(x->events[k].kind),
				    uid_numbered(x->events[k].number),
				    sha256(arena_strf(a, "event %u", k)) };
			add(l, events[k]);
		}
		assert_true(digest_from_hex(str_from(x->root), &expected));
		assert_same(root_of(l), expected);
		assert_same(naive_index_root(naive_index_new(a, events, x->n)),
		    expected);
		index_list_free(l);
		arena_free(a);
	}
	assert_true(
	    digest_eq(index_empty(), sha256(STR("probity-index/v1 0\n"))));
}

static void
test_heights(void **state)
{
	size_t of[INDEX_HEIGHTS] = { 0 };
	struct index_key key;

	(void)state;
	for (uint32_t n = 0; n < 32768; n++) {
		assert_int_equal(
		    index_key_set(&key, STR("x"), uid_numbered(n), NULL), 0);
		of[index_height(index_key_str(&key))]++;
	}
	/* 31 of 32, 31 of 1024, …, within what chance allows. */
	assert_in_range(of[0], 31500, 32000);
	assert_in_range(of[1], 850, 1150);
	assert_in_range(of[2], 10, 60);
}

/* After every so many events, and with the records in another order. */
static void
test_kept_as_defined(void **state)
{
	struct index_event *events = calloc(EVENTS, sizeof *events);
	struct index_list *l = index_list_new();
	struct arena *a = arena_new();

	(void)state;
	for (uint32_t n = 0; n < EVENTS; n++) {
		events[n] = event_numbered(n);
		add(l, events[n]);
		if (n < 40 || n % 997 == 0 || n == EVENTS - 1) {
			arena_reset(a);
			assert_same(
			    root_of(l), naive_index_root(
					    naive_index_new(a, events, n + 1)));
		}
	}
	index_list_free(l);
	arena_free(a);
	free(events);
}

/* One event for each record, forwards, backwards and shuffled. */
static void
test_order_does_not_matter(void **state)
{
	struct digest roots[3];

	(void)state;
	for (uint32_t way = 0; way < 3; way++) {
		struct index_list *l = index_list_new();

		for (uint32_t n = 0; n < RECORDS; n++) {
			uint32_t i = way == 0   ? n
				     : way == 1 ? RECORDS - 1 - n
						: n * 577 % RECORDS;

			add(l, (struct index_event){ STR("thing"),
				   uid_numbered(i), sha256(STR("event")) });
			if (n % 7 == way)
				root_of(l);
		}
		roots[way] = root_of(l);
		index_list_free(l);
	}
	assert_same(roots[1], roots[0]);
	assert_same(roots[2], roots[0]);
}

static void
test_kinds(void **state)
{
	struct index_list *l = index_list_new();
	struct err e = { 0 };
	char longest[INDEX_KIND_MAX + 1];
	const char *const bad[] = { "", "A", "a b", "1a", "a-b", "a~" };

	(void)state;
	memset(longest, 'k', sizeof longest);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct index_event ev = { .kind = str_from(bad[i]) };

		assert_int_equal(index_list_add(l, &ev, &e), -1);
		assert_ptr_equal(e.kind, &err_invalid);
		err_clear(&e);
	}
	add(l, (struct index_event){ .kind = { longest, INDEX_KIND_MAX } });
	assert_int_equal(
	    index_list_add(l,
		&(struct index_event){ .kind = { longest, sizeof longest } },
		&e),
	    -1);
	index_list_free(l);
}

/* A proof over the example, and what may be changed in it. */
struct proof {
	struct arena *a;
	struct naive_index *x;
	struct digest root;
	struct index_range range;
	const struct str *pages;
	size_t n;
	const struct index_row *rows;
	size_t n_rows;
	struct err e;
};

static void
prove(struct proof *p, const struct index_range *range)
{
	p->range = *range;
	p->pages = naive_index_prove(p->x, range, &p->n);
}

static int
check(struct proof *p)
{
	err_clear(&p->e);
	return index_proof_check(p->a, p->root, p->pages, p->n, &p->range,
	    &p->rows, &p->n_rows, &p->e);
}

static void
assert_refused(struct proof *p, const struct err_kind *kind, const char *why)
{
	assert_int_equal(check(p), -1);
	assert_ptr_equal(p->e.kind, kind);
	if (!strstr(p->e.detail, why))
		fail_msg("%s, not %s", p->e.detail, why);
}

static int
make_proof(void **state)
{
	struct proof *p = calloc(1, sizeof *p);
	struct index_event *events = calloc(EVENTS, sizeof *events);

	for (uint32_t n = 0; n < EVENTS; n++)
		events[n] = event_numbered(n);
	p->a = arena_new();
	p->x = naive_index_new(p->a, events, EVENTS);
	p->root = naive_index_root(p->x);
	free(events);
	*state = p;
	return 0;
}

static int
free_proof(void **state)
{
	struct proof *p = *state;

	arena_free(p->a);
	free(p);
	return 0;
}

/* Record n is of kind n % 3: of "action" there are 0, 3, …, 996. */
static void
test_one_record(void **state)
{
	struct proof *p = *state;
	struct index_range r;

	for (uint32_t n = 0; n < RECORDS; n += 20) {
		index_range_of_record(&r, STR("action"), uid_numbered(n), NULL);
		prove(p, &r);
		assert_int_equal(check(p), 0);
		assert_int_equal(p->n_rows, n % 3 == 0);
		if (n % 3 == 0)
			assert_in_range(p->rows[0].count, 2, 5);
	}
	/* Where the kind has no record, and where no kind is. */
	index_range_of_kind(
	    &r, STR("a"), (struct uid){ 0 }, (struct uid){ 0 }, NULL);
	prove(p, &r);
	assert_int_equal(check(p), 0);
	assert_int_equal(p->n_rows, 0);
	index_range_of_record(&r, STR("zzz"), uid_numbered(1), NULL);
	prove(p, &r);
	assert_int_equal(check(p), 0);
	assert_int_equal(p->n_rows, 0);
}

static void
test_ranges(void **state)
{
	struct proof *p = *state;
	struct uid none = { { 0 } };
	struct index_range r;

	index_range_of_kind(&r, STR("action"), none, none, NULL);
	prove(p, &r);
	assert_int_equal(check(p), 0);
	assert_int_equal(p->n_rows, 333);
	assert_true(p->n > 10);
	/* Above the one, up to the other with it. */
	index_range_of_kind(
	    &r, STR("action"), uid_numbered(30), uid_numbered(60), NULL);
	prove(p, &r);
	assert_int_equal(check(p), 0);
	assert_int_equal(p->n_rows, 10);
	index_range_of_kind(&r, STR("zebra"), uid_numbered(992), none, NULL);
	prove(p, &r);
	assert_int_equal(check(p), 0);
	assert_int_equal(p->n_rows, 1);
}

/* A page less, a page more, two in each other's place. */
static void
test_other_pages(void **state)
{
	struct proof *p = *state;
	struct str *pages, last;
	struct index_range r;

	index_range_of_kind(
	    &r, STR("action"), uid_numbered(30), uid_numbered(600), NULL);
	prove(p, &r);
	assert_true(p->n > 4);
	p->n--;
	assert_refused(p, &err_corrupt, "is missing");
	p->n = 0;
	assert_refused(p, &err_corrupt, "is missing");
	prove(p, &r);
	pages = arena_array(p->a, p->n + 1, sizeof *pages);
	memcpy(pages, p->pages, p->n * sizeof *pages);
	pages[p->n] = pages[0];
	p->pages = pages;
	p->n++;
	assert_refused(p, &err_corrupt, "one too many");
	p->n--;
	last = pages[p->n - 1];
	pages[p->n - 1] = pages[p->n - 2];
	pages[p->n - 2] = last;
	assert_refused(p, &err_corrupt, "the page above it names");
	/* Those of a smaller range do not do for a larger one. */
	index_range_of_kind(
	    &r, STR("action"), uid_numbered(30), uid_numbered(60), NULL);
	prove(p, &r);
	index_range_of_kind(&p->range, STR("action"), uid_numbered(30),
	    uid_numbered(900), NULL);
	assert_refused(p, &err_corrupt, "is missing");
	p->root = sha256(STR("other"));
	assert_refused(p, &err_corrupt, "the commit names");
}

/* Every byte of every page counts. */
static void
test_altered_pages(void **state)
{
	struct proof *p = *state;
	struct str *pages;
	struct index_range r;

	index_range_of_record(&r, STR("action"), uid_numbered(300), NULL);
	prove(p, &r);
	pages = arena_array(p->a, p->n, sizeof *pages);
	memcpy(pages, p->pages, p->n * sizeof *pages);
	p->pages = pages;
	for (size_t i = 0; i < p->n; i++) {
		struct str whole = pages[i];
		char *changed = arena_alloc(p->a, whole.n);

		for (size_t at = 0; at < whole.n; at += 7) {
			memcpy(changed, whole.p, whole.n);
			changed[at] ^= 1;
			pages[i] = (struct str){ changed, whole.n };
			assert_int_equal(check(p), -1);
		}
		pages[i] = whole;
	}
	assert_int_equal(check(p), 0);
}

#define HASH                               \
	"b2f2199c90d1c8ed61813421fc4becf4" \
	"742134f21ca2401c114af851259cc54a"
#define KEY(n) "action 019b7ca9-9070-7000-8000-00000000000" #n

static const char *const no_pages[] = { "", "probity-index/v1 0",
	"probity-index/v1 00\n", "probity-index/v1 53\n",
	"probity-index/v2 0\n", "probity-index/v1 0\n\n",
	"probity-index/v1 0\n- 1 " HASH "\n",
	"probity-index/v1 0\n" KEY(1) " 1 " HASH,
	"probity-index/v1 0\n" KEY(1) " 0 " HASH "\n",
	"probity-index/v1 0\n" KEY(1) " 01 " HASH "\n",
	"probity-index/v1 0\n" KEY(1) " 1 " HASH " \n",
	"probity-index/v1 0\n" KEY(1) "  1 " HASH "\n",
	"probity-index/v1 0\n" KEY(1) " " HASH "\n",
	"probity-index/v1 0\n" KEY(A) " 1 " HASH "\n",
	"probity-index/v1 0\n" KEY(2) " 1 " HASH "\n" KEY(1) " 1 " HASH "\n",
	"probity-index/v1 0\n" KEY(1) " 1 " HASH "\n" KEY(1) " 1 " HASH "\n",
	"probity-index/v1 1\n" KEY(1) " 1 " HASH "\n",
	"probity-index/v1 1\n" KEY(1) " " HASH "\n- " HASH "\n",
	"probity-index/v1 1\n- " HASH "\n- " HASH "\n" };

static void
test_no_pages(void **state)
{
	struct arena *a = arena_new();
	struct index_page page;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof no_pages / sizeof *no_pages; i++) {
		if (index_page_parse(a, str_from(no_pages[i]), &page, &e) == 0)
			fail_msg("taken: %s", no_pages[i]);
		assert_ptr_equal(e.kind, &err_malformed);
		err_clear(&e);
	}
	assert_int_equal(
	    index_page_parse(a,
		STR("probity-index/v1 1\n- " HASH "\n" KEY(1) " " HASH "\n"),
		&page, &e),
	    0);
	assert_int_equal(page.n, 2);
	arena_free(a);
}

/* Pages that hold together, but are not those that the definition gives. */
static void
test_pages_of_another_form(void **state)
{
	static const struct {
		const char *page, *why;
	} forms[] = {
		/* Only the head: the page below would be the topmost. */
		{ "probity-index/v1 1\n- " HASH "\n", "is not the topmost" },
		{ "probity-index/v1 1\n" KEY(1) " " HASH "\n" KEY(2) " " HASH
								     "\n",
		    "the key that opens it" },
		/* Of height 0, as are all numbers below 0x24. */
		{ "probity-index/v1 1\n- " HASH "\n" KEY(1) " " HASH "\n",
		    "a row of another level" },
		/* Of height 1. */
		{ "probity-index/v1 0\n"
		  "action 019b7ca9-9070-7000-8000-000000000024 1 " HASH "\n",
		    "a row of another level" },
	};
	struct proof *p = *state;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct str page = str_from(forms[i].page);

		p->pages = &page;
		p->n = 1;
		p->root = sha256(page);
		index_range_of_record(
		    &p->range, STR("action"), uid_numbered(1), NULL);
		assert_refused(p, &err_corrupt, forms[i].why);
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_proof, free_proof)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_heights),
		cmocka_unit_test(test_kept_as_defined),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_kinds),
		TEST(test_one_record),
		TEST(test_ranges),
		TEST(test_other_pages),
		TEST(test_altered_pages),
		cmocka_unit_test(test_no_pages),
		TEST(test_pages_of_another_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
