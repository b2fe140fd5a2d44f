#include "ledger/audit/path.h"

#include <assert.h>

/* Leaves whose common root is one hash of the proof. */
struct part {
	uint64_t first, n;
	struct merkle tree;
};

struct path {
	struct part parts[MERKLE_LEVELS]; /* from the root down */
	size_t n;
	size_t at; /* the part that took a leaf last */
	uint64_t size;
	struct merkle whole;
};

/* The largest power of two below n, for n > 1: where RFC 9162 splits. */
static uint64_t
split(uint64_t n)
{
	return UINT64_C(1) << (63 - __builtin_clzll(n - 1));
}

struct path *
path_new(struct arena *a, uint64_t index, uint64_t size)
{
	struct path *p = ARENA_NEW(a, struct path);
	uint64_t first = 0, n = size;

	p->size = size;
	while (n > 1) {
		uint64_t k = split(n);
		bool left = index - first < k;
		struct part *part = &p->parts[p->n++];

		part->first = left ? first + k : first;
		part->n = left ? n - k : k;
		first += left ? 0 : k;
		n = left ? k : n - k;
	}
	return p;
}

static bool
part_has(const struct part *part, uint64_t i)
{
	return i >= part->first && i - part->first < part->n;
}

/* Leaves come in order, so most belong where the one before did. The leaf that
 * the proof is of belongs nowhere. */
void
path_add(struct path *p, struct digest leaf)
{
	uint64_t i = p->whole.size;

	assert(i < p->size);
	if (p->n > 0 && !part_has(&p->parts[p->at], i)) {
		p->at = 0;
		while (p->at + 1 < p->n && !part_has(&p->parts[p->at], i))
			p->at++;
	}
	if (p->n > 0 && part_has(&p->parts[p->at], i))
		merkle_append(&p->parts[p->at].tree, leaf);
	merkle_append(&p->whole, leaf);
}

struct digest
path_root(const struct path *p)
{
	return merkle_root(&p->whole);
}

void
path_proof(const struct path *p, struct merkle_proof *out)
{
	out->n = p->n;
	for (size_t i = 0; i < p->n; i++)
		out->hashes[p->n - 1 - i] = merkle_root(&p->parts[i].tree);
}
