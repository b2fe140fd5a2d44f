/*
 * What a stranger hands in as pages of the index. The input's first line names
 * the range, pages follow, each ended by a blank line; the root is taken from
 * the first, so that what lies behind the first comparison is reached. A page
 * that is accepted has one form only: written anew, it is the input. Every row
 * that a proof gives lies in its range, above the one before.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/chain/index.h"

#define PAGES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static void
write_again(const struct index_page *p, struct buf *b)
{
	index_page_begin(b, p->level);
	for (size_t i = 0; i < p->n; i++)
		if (p->level == 0)
			index_page_add_record(b, p->rows[i].key,
			    p->rows[i].count, p->rows[i].hash);
		else
			index_page_add_page(b, p->rows[i].key, p->rows[i].hash);
}

static void
fuzz_page(struct arena *a, struct str s)
{
	struct index_page p;
	struct err e = { 0 };
	struct buf b;

	if (index_page_parse(a, s, &p, &e)) {
		must(e.kind == &err_malformed);
		return;
	}
	buf_init(&b, INDEX_PAGE_MAX);
	write_again(&p, &b);
	must(str_eq(buf_str(&b), s));
	buf_fini(&b);
}

/* Up to the next blank line, which goes too. */
static struct str
take_page(struct str *rest)
{
	struct str page = *rest;

	for (size_t i = 1; i < rest->n; i++)
		if (rest->p[i] == '\n' && rest->p[i - 1] == '\n') {
			page = str_slice(*rest, 0, i);
			*rest = str_slice(*rest, i + 1, rest->n);
			return page;
		}
	*rest = STR_NONE;
	return page;
}

/* The first line: a kind, whose range it is. */
static bool
take_range(struct str *rest, struct index_range *range)
{
	struct uid none = { { 0 } };
	struct str kind = str_take(rest, '\n');

	return index_range_of_kind(range, kind, none, none, NULL) == 0;
}

static void
fuzz_proof(struct arena *a, struct str s)
{
	struct str pages[PAGES_MAX], from, to;
	const struct index_row *rows;
	struct index_range range;
	size_t n = 0, n_rows;
	struct err e = { 0 };

	if (!take_range(&s, &range))
		return;
	while (n < PAGES_MAX && s.n > 0)
		pages[n++] = take_page(&s);
	if (n == 0)
		return;
	if (index_proof_check(
		a, sha256(pages[0]), pages, n, &range, &rows, &n_rows, &e)) {
		must(e.kind == &err_malformed || e.kind == &err_corrupt);
		return;
	}
	from = str_from(range.from);
	to = str_from(range.to);
	for (size_t i = 0; i < n_rows; i++) {
		must(str_cmp(rows[i].key, from) >= 0);
		must(str_cmp(rows[i].key, to) <= 0);
		must(i == 0 || str_cmp(rows[i - 1].key, rows[i].key) < 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str s = { (const char *)bytes, n };
	struct arena *a = arena_new();

	fuzz_page(a, s);
	fuzz_proof(a, s);
	arena_free(a);
	return 0;
}
