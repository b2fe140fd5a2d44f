#include "tests/support/naive_index.h"

#include <stdlib.h>
#include <string.h>

#define PAGES_MAX 10000

struct entry {
	struct index_key key;
	unsigned height;
	uint64_t count;
	char chain[DIGEST_HEX + 1];
};

struct naive_index {
	struct arena *a;
	struct entry *entries;
	size_t n;
};

/* The rows of a level from the head or entry `first` on, before entry `end`. */
struct part {
	unsigned level;
	bool head;
	size_t first, end;
};

static struct str
key_at(const struct naive_index *x, size_t i)
{
	return index_key_str(&x->entries[i].key);
}

static int
compare(const void *p, const void *q)
{
	const struct entry *x = p, *y = q;

	return str_cmp(index_key_str(&x->key), index_key_str(&y->key));
}

static struct entry *
entry_for(struct naive_index *x, const struct index_event *ev)
{
	struct index_key key;
	struct entry *new;

	if (index_key_set(&key, ev->kind, ev->subject, NULL))
		abort();
	for (size_t i = 0; i < x->n; i++)
		if (str_eq(key_at(x, i), index_key_str(&key)))
			return &x->entries[i];
	new = &x->entries[x->n++];
	new->key = key;
	new->height = index_height(index_key_str(&key));
	memset(new->chain, '0', DIGEST_HEX);
	return new;
}

struct naive_index *
naive_index_new(struct arena *a, const struct index_event *events, size_t n)
{
	struct naive_index *x = arena_alloc(a, sizeof *x);

	x->a = a;
	x->entries = arena_array(a, n + 1, sizeof *x->entries);
	for (size_t i = 0; i < n; i++) {
		struct entry *t = entry_for(x, &events[i]);
		char hex[DIGEST_HEX + 1];

		digest_hex(events[i].hash, hex);
		t->count++;
		digest_hex(
		    sha256(arena_strf(a, "%s%s", t->chain, hex)), t->chain);
	}
	qsort(x->entries, x->n, sizeof *x->entries, compare);
	return x;
}

/* The first entry from i on that has a row on the level, or the end. */
static size_t
next_on(const struct naive_index *x, size_t i, size_t end, unsigned level)
{
	while (i < end && x->entries[i].height < level)
		i++;
	return i;
}

/* What a row of the part opens on the level below; *i goes on to the next. */
static struct part
below(const struct naive_index *x, const struct part *p, bool head, size_t *i)
{
	size_t first = *i;

	*i = next_on(x, head ? first : first + 1, p->end, p->level);
	return (struct part){ p->level - 1, head, first, *i };
}

static struct str
text_of(struct naive_index *x, const struct part *p)
{
	struct str text = arena_strf(x->a, "probity-index/v1 %u\n", p->level);
	bool head = p->head && p->level > 0;

	for (size_t i = p->first; head || i < p->end; head = false) {
		const struct entry *t = &x->entries[i];
		char hex[DIGEST_HEX + 1];

		if (p->level == 0) {
			text = arena_strf(x->a, "%.*s%s %llu %s\n",
			    STR_ARGS(text), t->key.p,
			    (unsigned long long)t->count, t->chain);
			i++;
		} else {
			struct part child = below(x, p, head, &i);

			digest_hex(sha256(text_of(x, &child)), hex);
			text = arena_strf(x->a, "%.*s%s %s\n", STR_ARGS(text),
			    head ? "-" : t->key.p, hex);
		}
	}
	return text;
}

static struct part
whole(const struct naive_index *x)
{
	struct part p = { 0, true, 0, x->n };

	for (size_t i = 0; i < x->n; i++)
		if (x->entries[i].height > p.level)
			p.level = x->entries[i].height;
	return p;
}

struct digest
naive_index_root(struct naive_index *x)
{
	struct part p = whole(x);

	return sha256(text_of(x, &p));
}

/* Whether the part's interval, from its key up to the next part's, meets the
 * range. */
static bool
meets(struct naive_index *x, const struct part *p, const struct index_range *r)
{
	return (p->head || strcmp(x->entries[p->first].key.p, r->to) <= 0) &&
	       (p->end == x->n ||
		   strcmp(x->entries[p->end].key.p, r->from) > 0);
}

const struct str *
naive_index_prove(struct naive_index *x, const struct index_range *r, size_t *n)
{
	struct part *parts = arena_array(x->a, PAGES_MAX, sizeof *parts);
	struct str *pages = arena_array(x->a, PAGES_MAX, sizeof *pages);
	size_t n_parts = 1;

	parts[0] = whole(x);
	for (*n = 0; *n < n_parts; ++*n) {
		const struct part *p = &parts[*n];
		bool head = p->head;

		pages[*n] = text_of(x, p);
		for (size_t i = p->first; p->level > 0 && (head || i < p->end);
		     head = false) {
			struct part child = below(x, p, head, &i);

			if (meets(x, &child, r))
				parts[n_parts++] = child;
		}
	}
	return pages;
}
