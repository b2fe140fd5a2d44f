#include "ledger/chain/index_list.h"

#include <stdlib.h>
#include <string.h>

/* Fingers, found by the kind; kinds that share one are slower, not wrong. */
#define FINGERS 16

struct node;

/* A row of a level above 0, and the page below that it opens. */
struct tower {
	struct node *next;
	struct digest page;
	bool dirty; /* then so is every page on the way up from it */
};

struct node {
	struct node *next; /* on level 0 */
	uint64_t count;
	struct digest chain;
	struct tower *towers; /* [0] is of level 1 */
	unsigned char height, n;
	char key[];
};

/* By level, the last row at or before a key. */
struct path {
	struct node *at[INDEX_HEIGHTS + 1];
};

struct dirty {
	struct node **nodes;
	size_t n, room;
};

struct index_list {
	struct arena *a;
	struct node *head; /* has a row on every level but 0 */
	unsigned top;      /* the lowest level where it is alone */
	struct path fingers[FINGERS];
	struct dirty dirty[INDEX_HEIGHTS + 1]; /* whose page is to be hashed */
	struct buf page;
};

static struct node *
node_new(struct index_list *l, struct str key, unsigned height)
{
	struct node *n = arena_alloc(l->a, sizeof *n + key.n);

	n->height = (unsigned char)height;
	n->n = (unsigned char)key.n;
	memcpy(n->key, key.p, key.n);
	if (height > 0)
		n->towers = arena_array(l->a, height, sizeof *n->towers);
	return n;
}

static struct str
key_of(const struct node *n)
{
	return (struct str){ n->key, n->n };
}

static struct node **
next_of(struct node *n, unsigned level)
{
	return level == 0 ? &n->next : &n->towers[level - 1].next;
}

struct index_list *
index_list_new(void)
{
	struct index_list *l = calloc(1, sizeof *l);

	if (!l)
		abort();
	l->a = arena_new();
	l->head = node_new(l, STR(""), INDEX_HEIGHTS);
	l->top = 1;
	for (size_t i = 0; i < FINGERS; i++)
		for (size_t level = 0; level <= INDEX_HEIGHTS; level++)
			l->fingers[i].at[level] = l->head;
	buf_init(&l->page, INDEX_PAGE_MAX);
	return l;
}

void
index_list_free(struct index_list *l)
{
	if (!l)
		return;
	for (size_t i = 0; i <= INDEX_HEIGHTS; i++)
		free(l->dirty[i].nodes);
	buf_fini(&l->page);
	arena_free(l->a);
	free(l);
}

static struct path *
finger_of(struct index_list *l, struct str kind)
{
	size_t hash = kind.n;

	for (size_t i = 0; i < kind.n; i++)
		hash = hash * 31 + (unsigned char)kind.p[i];
	return &l->fingers[hash % FINGERS];
}

/* Moves the finger to the key. On each level it goes on from where it was, or
 * from the level above, whichever is nearer. */
static void
search(const struct index_list *l, struct path *p, struct str key)
{
	struct node *from = l->head, *next;

	for (unsigned level = l->top + 1; level-- > 0;) {
		struct node *was = p->at[level];

		if (str_cmp(key_of(was), key) <= 0 &&
		    str_cmp(key_of(was), key_of(from)) > 0)
			from = was;
		while ((next = *next_of(from, level)) &&
		       str_cmp(key_of(next), key) <= 0)
			from = next;
		p->at[level] = from;
	}
}

static void
mark(struct index_list *l, struct node *n, unsigned level)
{
	struct dirty *d = &l->dirty[level];

	if (n->towers[level - 1].dirty)
		return;
	n->towers[level - 1].dirty = true;
	if (d->n == d->room) {
		d->room = d->room ? 2 * d->room : 64;
		d->nodes = reallocarray(d->nodes, d->room, sizeof *d->nodes);
		if (!d->nodes)
			abort();
	}
	d->nodes[d->n++] = n;
}

/* The pages that hold the path's rows. */
static void
mark_path(struct index_list *l, const struct path *p)
{
	for (unsigned level = 1; level <= l->top; level++)
		mark(l, p->at[level], level);
}

/* Behind the path's rows, whose pages end there from now on. */
static struct node *
insert(struct index_list *l, struct path *p, struct str key)
{
	unsigned height = index_height(key);
	struct node *n = node_new(l, key, height);

	for (; l->top <= height; l->top++)
		p->at[l->top + 1] = l->head;
	mark_path(l, p);
	for (unsigned level = 0; level <= height; level++) {
		struct node **at = next_of(p->at[level], level);

		*next_of(n, level) = *at;
		*at = n;
		p->at[level] = n;
	}
	return n;
}

int
index_list_add(
    struct index_list *l, const struct index_event *ev, struct err *e)
{
	struct path *p = finger_of(l, ev->kind);
	struct index_key key;
	struct node *n;

	if (index_key_set(&key, ev->kind, ev->subject, e))
		return -1;
	search(l, p, index_key_str(&key));
	n = p->at[0];
	if (!str_eq(key_of(n), index_key_str(&key)))
		n = insert(l, p, index_key_str(&key));
	mark_path(l, p);
	n->count++;
	n->chain = index_chain_next(n->chain, ev->hash);
	return 0;
}

/* The page of the level below that the row opens. */
static int
hash_page(
    struct index_list *l, struct node *opener, unsigned level, struct err *e)
{
	const struct node *end = *next_of(opener, level);
	struct node *n = opener;

	buf_reset(&l->page);
	index_page_begin(&l->page, level - 1);
	if (level == 1 && n == l->head)
		n = n->next;
	for (; n != end; n = *next_of(n, level - 1))
		if (level == 1)
			index_page_add_record(
			    &l->page, key_of(n), n->count, n->chain);
		else
			index_page_add_page(
			    &l->page, key_of(n), n->towers[level - 2].page);
	if (buf_failed(&l->page))
		return err_set(e, &err_too_large,
		    "a page of the index is longer than %d bytes",
		    INDEX_PAGE_MAX);
	opener->towers[level - 1].page = sha256(buf_str(&l->page));
	opener->towers[level - 1].dirty = false;
	return 0;
}

int
index_list_root(struct index_list *l, struct digest *out, struct err *e)
{
	for (unsigned level = 1; level <= l->top; level++) {
		struct dirty *d = &l->dirty[level];

		for (size_t i = 0; i < d->n; i++)
			if (hash_page(l, d->nodes[i], level, e))
				return -1;
		d->n = 0;
	}
	*out = l->head->next ? l->head->towers[l->top - 1].page : index_empty();
	return 0;
}
