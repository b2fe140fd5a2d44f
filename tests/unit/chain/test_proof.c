#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/chain/proof.h"

#define LEAVES 40

/* The tree in memory. A proof may ask only for complete subtrees. */
struct leaves {
	struct digest leaf[LEAVES];
	uint64_t n;
	bool fails;
};

static struct digest
hash_by_definition(const struct digest *leaf, size_t n)
{
	size_t k = 1;

	if (n == 0)
		return sha256(STR(""));
	if (n == 1)
		return leaf[0];
	while (k * 2 < n)
		k *= 2;
	return merkle_node(
	    hash_by_definition(leaf, k), hash_by_definition(leaf + k, n - k));
}

static int
node(void *arg, unsigned level, uint64_t index, struct digest *out,
    struct err *e)
{
	const struct leaves *l = arg;

	if (l->fails)
		return err_set(e, &err_corrupt, "no such node");
	assert_true(level < 6 && (index + 1) << level <= l->n);
	*out =
	    hash_by_definition(l->leaf + (index << level), (size_t)1 << level);
	return 0;
}

static struct tree
tree_of(struct leaves *l, uint64_t size)
{
	l->n = size;
	return (struct tree){ size, node, l };
}

static struct leaves
numbered(void)
{
	struct leaves l = { 0 };

	for (size_t i = 0; i < LEAVES; i++) {
		char byte = (char)i;

		l.leaf[i] = merkle_leaf((struct str){ &byte, 1 });
	}
	return l;
}

static struct digest
root_of(const struct leaves *l, uint64_t size)
{
	return hash_by_definition(l->leaf, size);
}

static struct merkle_proof
inclusion(struct leaves *l, uint64_t index, uint64_t size)
{
	struct tree t = tree_of(l, size);
	struct merkle_proof p;
	struct err e = { 0 };

	if (proof_inclusion(&t, index, &p, &e))
		fail_msg("%s", e.detail);
	return p;
}

static struct merkle_proof
consistency(struct leaves *l, uint64_t old, uint64_t size)
{
	struct tree t = tree_of(l, size);
	struct merkle_proof p;
	struct err e = { 0 };

	if (proof_consistency(&t, old, &p, &e))
		fail_msg("%s", e.detail);
	return p;
}

/* Inputs and proofs of Certificate Transparency's reference tests
 * (merkle_tree_test.cc). There the first leaf is 1, here it is 0. */
static const struct str inputs[] = {
	{ "", 0 },
	{ "\x00", 1 },
	{ "\x10", 1 },
	{ "\x20\x21", 2 },
	{ "\x30\x31", 2 },
	{ "\x40\x41\x42\x43", 4 },
	{ "\x50\x51\x52\x53\x54\x55\x56\x57", 8 },
	{ "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
	    16 },
};

#define LEAF_0 \
	"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
#define LEAF_1 \
	"96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
#define LEAF_4 \
	"bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
#define LEAVES_0_TO_1 \
	"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
#define LEAVES_2_TO_3 \
	"5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
#define LEAVES_0_TO_3 \
	"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"
#define LEAVES_4_TO_5 \
	"0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
#define LEAVES_6_TO_7 \
	"ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
#define LEAVES_4_TO_7 \
	"6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"

struct vector {
	uint64_t from, size; /* index or old size, and size */
	const char *hashes[4];
};
static const struct vector inclusions[] = {
	{ 0, 1, { NULL } },
	{ 0, 8, { LEAF_1, LEAVES_2_TO_3, LEAVES_4_TO_7 } },
	{ 5, 8, { LEAF_4, LEAVES_6_TO_7, LEAVES_0_TO_3 } },
	{ 2, 3, { LEAVES_0_TO_1 } },
	{ 1, 5, { LEAF_0, LEAVES_2_TO_3, LEAF_4 } },
};
static const struct vector consistencies[] = {
	{ 1, 1, { NULL } },
	{ 1, 8, { LEAF_1, LEAVES_2_TO_3, LEAVES_4_TO_7 } },
	{ 6, 8, { LEAVES_4_TO_5, LEAVES_6_TO_7, LEAVES_0_TO_3 } },
	{ 2, 5, { LEAVES_2_TO_3, LEAF_4 } },
};

static struct leaves
of_certificate_transparency(void)
{
	struct leaves l = { 0 };

	for (size_t i = 0; i < 8; i++)
		l.leaf[i] = merkle_leaf(inputs[i]);
	return l;
}

static void
assert_hashes(const struct merkle_proof *p, const char *const *hashes)
{
	char hex[DIGEST_HEX + 1];
	size_t i;

	for (i = 0; hashes[i] != NULL; i++) {
		assert_true(i < p->n);
		digest_hex(p->hashes[i], hex);
		assert_string_equal(hex, hashes[i]);
	}
	assert_int_equal(p->n, i);
}

static void
test_inclusion_is_that_of_certificate_transparency(void **state)
{
	struct leaves l = of_certificate_transparency();

	(void)state;
	for (size_t i = 0; i < sizeof inclusions / sizeof *inclusions; i++) {
		const struct vector *v = &inclusions[i];
		struct merkle_proof p = inclusion(&l, v->from, v->size);

		assert_hashes(&p, v->hashes);
		assert_true(proof_includes(l.leaf[v->from], v->from, v->size,
		    &p, root_of(&l, v->size)));
	}
}

static void
test_consistency_is_that_of_certificate_transparency(void **state)
{
	struct leaves l = of_certificate_transparency();

	(void)state;
	for (size_t i = 0; i < sizeof consistencies / sizeof *consistencies;
	     i++) {
		const struct vector *v = &consistencies[i];
		struct merkle_proof p = consistency(&l, v->from, v->size);

		assert_hashes(&p, v->hashes);
		assert_true(proof_extends(v->from, root_of(&l, v->from),
		    v->size, root_of(&l, v->size), &p));
	}
}

static void
test_roots(void **state)
{
	struct leaves l = numbered();
	struct tree t = tree_of(&l, LEAVES);
	struct err e = { 0 };
	struct digest root;

	(void)state;
	for (uint64_t size = 0; size <= LEAVES; size++) {
		assert_int_equal(tree_root(&t, size, &root, &e), 0);
		assert_true(digest_eq(root, root_of(&l, size)));
	}
}

/* A bit of each hash, one hash less, one more. */
static bool
any_damaged(const struct merkle_proof *good,
    bool (*holds)(const void *, const struct merkle_proof *), const void *arg)
{
	struct merkle_proof p = *good;
	bool any = false;

	for (size_t i = 0; i < good->n; i++) {
		p.hashes[i].b[i % DIGEST_BYTES] ^= 1;
		any |= holds(arg, &p);
		p.hashes[i] = good->hashes[i];
	}
	p.hashes[p.n++] = sha256(STR("one more"));
	any |= holds(arg, &p);
	p.n = good->n - 1;
	return any || (good->n > 0 && holds(arg, &p));
}

struct included {
	struct digest leaf;
	uint64_t index, size;
	struct digest root;
};

static bool
includes(const void *arg, const struct merkle_proof *p)
{
	const struct included *i = arg;

	return proof_includes(i->leaf, i->index, i->size, p, i->root);
}

/* No other place, leaf, root; and at another size not with that size's root.
 * (A size is bound by the checkpoint that names it with its root: two sizes
 * with the same way from a leaf up cannot be told apart by the path alone.) */
static void
refuse_inclusions(
    const struct leaves *l, struct included is, const struct merkle_proof *p)
{
	struct included other = is;

	for (uint64_t i = 0; i <= LEAVES; i++) {
		other.index = i;
		assert_true(includes(&other, p) == (i == is.index));
	}
	other = is;
	for (uint64_t size = 0; size <= LEAVES; size++) {
		other.size = size;
		other.root = root_of(l, size);
		assert_true(includes(&other, p) == (size == is.size));
		other.root = is.root;
		if (size <= is.index)
			assert_false(includes(&other, p));
	}
	other = is;
	other.leaf.b[0] ^= 1;
	assert_false(includes(&other, p));
	other = is;
	other.root.b[31] ^= 0x80;
	assert_false(includes(&other, p));
	assert_false(any_damaged(p, includes, &is));
}

static void
test_every_inclusion(void **state)
{
	struct leaves l = numbered();

	(void)state;
	for (uint64_t size = 1; size <= LEAVES; size++)
		for (uint64_t i = 0; i < size; i++) {
			struct merkle_proof p = inclusion(&l, i, size);
			struct included is = { l.leaf[i], i, size,
				root_of(&l, size) };

			assert_true(includes(&is, &p));
			refuse_inclusions(&l, is, &p);
		}
}

struct extended {
	uint64_t old;
	struct digest old_root;
	uint64_t size;
	struct digest root;
};

static bool
extends(const void *arg, const struct merkle_proof *p)
{
	const struct extended *x = arg;

	return proof_extends(x->old, x->old_root, x->size, x->root, p);
}

static void
refuse_extensions(
    const struct leaves *l, struct extended x, const struct merkle_proof *p)
{
	struct extended other = x;

	for (uint64_t size = 0; size <= LEAVES; size++) {
		other.old = size;
		other.old_root = x.old_root;
		assert_true(extends(&other, p) == (size == x.old));
		other = x;
		other.size = size;
		other.root = root_of(l, size);
		assert_true(extends(&other, p) == (size == x.size));
		other = x;
	}
	other.old_root.b[0] ^= 1;
	assert_false(extends(&other, p));
	other = x;
	other.root.b[31] ^= 0x80;
	assert_false(extends(&other, p));
	assert_false(any_damaged(p, extends, &x));
}

static void
test_every_consistency(void **state)
{
	struct leaves l = numbered();

	(void)state;
	for (uint64_t size = 1; size <= LEAVES; size++)
		for (uint64_t old = 1; old <= size; old++) {
			struct merkle_proof p = consistency(&l, old, size);
			struct extended x = { old, root_of(&l, old), size,
				root_of(&l, size) };

			assert_true(extends(&x, &p));
			refuse_extensions(&l, x, &p);
		}
}

/* As long as a proof can be, and no longer. */
static void
test_largest_sizes(void **state)
{
	struct merkle_proof p = { .n = 64 };
	struct digest leaf = merkle_leaf(STR("")), root = leaf;

	(void)state;
	for (size_t i = 0; i < 64; i++)
		root = merkle_node(root, p.hashes[i]);
	assert_true(proof_includes(leaf, 0, UINT64_MAX, &p, root));
	assert_false(proof_includes(leaf, UINT64_MAX, UINT64_MAX, &p, root));
	p.n = PROOF_HASHES;
	assert_false(proof_includes(leaf, 0, UINT64_MAX, &p, root));
	assert_false(proof_extends(1, leaf, UINT64_MAX, root, &p));
	p.n = PROOF_HASHES + 1;
	assert_false(proof_extends(1, leaf, UINT64_MAX, root, &p));
}

static void
test_a_node_that_cannot_be_read(void **state)
{
	struct leaves l = { .fails = true };
	struct tree t = tree_of(&l, 7);
	struct merkle_proof p;
	struct digest root;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tree_root(&t, 7, &root, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	assert_int_equal(proof_inclusion(&t, 3, &p, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	assert_int_equal(proof_consistency(&t, 3, &p, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    test_inclusion_is_that_of_certificate_transparency),
		cmocka_unit_test(
		    test_consistency_is_that_of_certificate_transparency),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_every_inclusion),
		cmocka_unit_test(test_every_consistency),
		cmocka_unit_test(test_largest_sizes),
		cmocka_unit_test(test_a_node_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
