#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/buf.h"
#include "ledger/chain/merkle.h"
#include "ledger/codec/text.h"

/* The inputs and roots of Certificate Transparency's reference tests
 * (merkle_tree_test.cc, "test vectors for the Merkle tree hash"). */
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
static const char *const roots[] = {
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
	"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
	"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
	"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
	"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
	"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
	"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
	"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};

static void
assert_root(const struct merkle *m, const char *hex)
{
	char got[DIGEST_HEX + 1];

	digest_hex(merkle_root(m), got);
	assert_string_equal(got, hex);
}

static void
test_roots_are_those_of_certificate_transparency(void **state)
{
	struct merkle m = { 0 };

	(void)state;
	assert_root(&m, roots[0]);
	for (size_t i = 0; i < 8; i++) {
		merkle_append(&m, merkle_leaf(inputs[i]));
		assert_int_equal(m.size, i + 1);
		assert_root(&m, roots[i + 1]);
	}
}

/* RFC 6962, 2.1, word by word: recursion over the largest power of two. */
static struct digest
hash_by_definition(const struct digest *leaves, size_t n)
{
	size_t k = 1;

	if (n == 0)
		return sha256(STR(""));
	if (n == 1)
		return leaves[0];
	while (k * 2 < n)
		k *= 2;
	return merkle_node(hash_by_definition(leaves, k),
	    hash_by_definition(leaves + k, n - k));
}

static void
test_frontier_agrees_with_the_definition(void **state)
{
	struct digest leaves[300];
	struct merkle m = { 0 };

	(void)state;
	for (size_t i = 0; i < 300; i++) {
		uint8_t bytes[2] = { (uint8_t)i, (uint8_t)(i >> 8) };

		leaves[i] = merkle_leaf((struct str){ (const char *)bytes, 2 });
		merkle_append(&m, leaves[i]);
		assert_true(digest_eq(
		    merkle_root(&m), hash_by_definition(leaves, i + 1)));
	}
}

static void
test_written_and_read_back(void **state)
{
	struct merkle m = { 0 }, back;
	struct buf b;

	(void)state;
	buf_init(&b, 8 + MERKLE_LEVELS * DIGEST_BYTES);
	for (size_t i = 0; i < 8; i++) {
		buf_reset(&b);
		merkle_write(&m, &b);
		assert_false(buf_failed(&b));
		assert_true(merkle_read(&back, buf_str(&b)));
		assert_int_equal(back.size, m.size);
		assert_root(&back, roots[i]);
		merkle_append(&back, merkle_leaf(inputs[i]));
		assert_root(&back, roots[i + 1]);
		merkle_append(&m, merkle_leaf(inputs[i]));
	}
	assert_false(merkle_read(&back, str_slice(buf_str(&b), 0, b.n - 1)));
	buf_add_byte(&b, 0);
	assert_false(merkle_read(&back, buf_str(&b)));
	assert_false(merkle_read(&back, STR("")));
	assert_false(merkle_read(&back, STR("\0\0\0\0\0\0\0")));
	buf_fini(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    test_roots_are_those_of_certificate_transparency),
		cmocka_unit_test(test_frontier_agrees_with_the_definition),
		cmocka_unit_test(test_written_and_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
