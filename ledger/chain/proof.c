#include "ledger/chain/proof.h"

#include <string.h>

/* The largest power of two below n, for n > 1: where RFC 9162 splits. */
static uint64_t
split(uint64_t n)
{
	return UINT64_C(1) << (63 - __builtin_clzll(n - 1));
}

/* The root over n leaves from `first`, a place that some split made: then a
 * power of two is one complete subtree. */
static int
range_root(const struct tree *t, uint64_t first, uint64_t n, struct digest *out,
    struct err *e)
{
	struct digest left, right;
	unsigned level;
	uint64_t k;

	if ((n & (n - 1)) == 0) {
		level = (unsigned)__builtin_ctzll(n);
		return t->node(t->arg, level, first >> level, out, e);
	}
	k = split(n);
	if (range_root(t, first, k, &left, e) ||
	    range_root(t, first + k, n - k, &right, e))
		return -1;
	*out = merkle_node(left, right);
	return 0;
}

int
tree_root(
    const struct tree *t, uint64_t size, struct digest *out, struct err *e)
{
	if (size == 0) {
		*out = sha256(STR(""));
		return 0;
	}
	return range_root(t, 0, size, out, e);
}

/* Both proofs list hashes from the leaves up, and are found from the root
 * down: they are turned round at the end. */
static int
add(const struct tree *t, uint64_t first, uint64_t n, struct merkle_proof *p,
    struct err *e)
{
	return range_root(t, first, n, &p->hashes[p->n++], e);
}

static void
turn_round(struct merkle_proof *p)
{
	for (size_t i = 0; i < p->n / 2; i++) {
		struct digest d = p->hashes[i];

		p->hashes[i] = p->hashes[p->n - 1 - i];
		p->hashes[p->n - 1 - i] = d;
	}
}

/* RFC 9162, 2.1.3.1. */
int
proof_inclusion(
    const struct tree *t, uint64_t index, struct merkle_proof *p, struct err *e)
{
	uint64_t first = 0, n = t->size;

	p->n = 0;
	while (n > 1) {
		uint64_t k = split(n);
		bool left = index - first < k;

		if (add(t, left ? first + k : first, left ? n - k : k, p, e))
			return -1;
		first += left ? 0 : k;
		n = left ? k : n - k;
	}
	turn_round(p);
	return 0;
}

/* RFC 9162, 2.1.4.1. */
int
proof_consistency(
    const struct tree *t, uint64_t old, struct merkle_proof *p, struct err *e)
{
	uint64_t first = 0, n = t->size;
	bool whole = true; /* what is left of the old tree is all of it */

	p->n = 0;
	while (old != n) {
		uint64_t k = split(n);
		bool left = old <= k;

		if (add(t, left ? first + k : first, left ? n - k : k, p, e))
			return -1;
		first += left ? 0 : k;
		n = left ? k : n - k;
		old -= left ? 0 : k;
		whole = whole && left;
	}
	if (!whole && add(t, first, n, p, e))
		return -1;
	turn_round(p);
	return 0;
}

/* RFC 9162, 2.1.3.2. */
bool
proof_includes(struct digest leaf, uint64_t index, uint64_t size,
    const struct merkle_proof *p, struct digest root)
{
	uint64_t fn = index, sn = size - 1;
	struct digest r = leaf;

	if (index >= size)
		return false;
	for (size_t i = 0; i < p->n; i++) {
		if (sn == 0)
			return false;
		if ((fn & 1) || fn == sn) {
			r = merkle_node(p->hashes[i], r);
			while (!(fn & 1) && fn != 0) {
				fn >>= 1;
				sn >>= 1;
			}
		} else {
			r = merkle_node(r, p->hashes[i]);
		}
		fn >>= 1;
		sn >>= 1;
	}
	return sn == 0 && digest_eq(r, root);
}

/* RFC 9162, 2.1.4.2, after its first step. */
static bool
extends(uint64_t old, struct digest old_root, uint64_t size, struct digest root,
    const struct digest *path, size_t n)
{
	uint64_t fn = old - 1, sn = size - 1;
	struct digest fr = path[0], sr = path[0];

	while (fn & 1) {
		fn >>= 1;
		sn >>= 1;
	}
	for (size_t i = 1; i < n; i++) {
		if (sn == 0)
			return false;
		if ((fn & 1) || fn == sn) {
			fr = merkle_node(path[i], fr);
			sr = merkle_node(path[i], sr);
			while (!(fn & 1) && fn != 0) {
				fn >>= 1;
				sn >>= 1;
			}
		} else {
			sr = merkle_node(sr, path[i]);
		}
		fn >>= 1;
		sn >>= 1;
	}
	return sn == 0 && digest_eq(fr, old_root) && digest_eq(sr, root);
}

bool
proof_extends(uint64_t old, struct digest old_root, uint64_t size,
    struct digest root, const struct merkle_proof *p)
{
	struct digest path[PROOF_HASHES + 1];

	if (old == 0 || old > size || p->n > PROOF_HASHES)
		return false;
	if (old == size)
		return p->n == 0 && digest_eq(old_root, root);
	if (old & (old - 1)) {
		if (p->n == 0)
			return false;
		return extends(old, old_root, size, root, p->hashes, p->n);
	}
	/* An old tree of a power of two is a node of the new one. */
	path[0] = old_root;
	memcpy(path + 1, p->hashes, p->n * sizeof path[0]);
	return extends(old, old_root, size, root, path, p->n + 1);
}
