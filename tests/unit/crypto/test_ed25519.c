#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/uid.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/ed25519.h"

#define VECTORS "tests/vectors/ed25519/rfc8032.txt"
#define FF10    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff

struct vector {
	uint8_t seed[32];
	struct public_key key;
	char message[1023];
	size_t n;
	struct signature signature;
};

/* The next line that is no comment, without its LF. */
static bool
next_line(FILE *f, char line[2100], struct str *out)
{
	while (fgets(line, 2100, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		*out = str_from(line);
		if (line[0] != '#')
			return true;
	}
	return false;
}

static bool
next_vector(FILE *f, struct vector *v)
{
	char line[2100];
	struct str s;

	if (!next_line(f, line, &s))
		return false;
	assert_true(hex_decode(s, v->seed, sizeof v->seed));
	assert_true(next_line(f, line, &s));
	assert_true(hex_decode(s, v->key.b, sizeof v->key.b));
	assert_true(next_line(f, line, &s));
	v->n = str_is(s, "-") ? 0 : s.n / 2;
	assert_true(v->n <= sizeof v->message);
	if (v->n > 0)
		assert_true(hex_decode(s, v->message, v->n));
	assert_true(next_line(f, line, &s));
	assert_true(hex_decode(s, v->signature.b, sizeof v->signature.b));
	return true;
}

static struct signature
sign(const struct private_key *k, struct str m)
{
	struct signature s;
	struct err e = { 0 };

	assert_int_equal(private_key_sign(k, m, &s, &e), 0);
	return s;
}

static void
expect_signature(struct signature got, struct signature wanted)
{
	assert_memory_equal(got.b, wanted.b, sizeof got.b);
}

static void
test_rfc8032(void **state)
{
	FILE *f = fopen(VECTORS, "r");
	struct vector v;
	int count = 0;

	(void)state;
	assert_non_null(f);
	for (; next_vector(f, &v); count++) {
		struct private_key *k = private_key_from_seed(v.seed);
		struct str m = { v.message, v.n };

		assert_true(public_key_eq(private_key_public(k), v.key));
		expect_signature(sign(k, m), v.signature);
		expect_signature(ed25519_sign_openssl(k, m), v.signature);
		assert_true(ed25519_verify(v.key, m, v.signature));
		assert_true(ed25519_verify_openssl(v.key, m, v.signature));
		private_key_free(k);
	}
	fclose(f);
	assert_int_equal(count, 5);
}

/* What one library signs the other accepts, and neither accepts it changed. */
static void
test_libraries_agree(void **state)
{
	(void)state;
	for (size_t n = 0; n < 300; n += 13) {
		struct private_key *k = private_key_new();
		struct public_key public = private_key_public(k);
		char bytes[301];
		struct str m = { bytes, n };
		struct signature sig;

		random_bytes(bytes, sizeof bytes);
		sig = sign(k, m);
		expect_signature(ed25519_sign_openssl(k, m), sig);
		assert_true(ed25519_verify(public, m, sig));
		assert_true(ed25519_verify_openssl(public, m, sig));
		m.n++;
		assert_false(ed25519_verify(public, m, sig));
		assert_false(ed25519_verify_openssl(public, m, sig));
		m.n--;
		sig.b[n % 64] ^= (uint8_t)(1 << (n % 8));
		assert_false(ed25519_verify(public, m, sig));
		assert_false(ed25519_verify_openssl(public, m, sig));
		private_key_free(k);
	}
}

static void
test_new_keys_differ(void **state)
{
	struct private_key *a = private_key_new(), *b = private_key_new();
	struct str m = STR("m");

	(void)state;
	assert_false(
	    public_key_eq(private_key_public(a), private_key_public(b)));
	assert_false(ed25519_verify(private_key_public(b), m, sign(a, m)));
	private_key_free(a);
	private_key_free(b);
	private_key_free(NULL);
}

/* S and S + L make the same point: only the smaller is a signature, or anyone
 * could make a second signature from a first. */
static void
test_noncanonical_s(void **state)
{
	static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63,
		0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
		0x14, [31] = 0x10 };
	static const uint8_t seed[32] = { 5 };
	struct private_key *k = private_key_from_seed(seed);
	struct str m = STR("m");
	struct signature sig = sign(k, m);
	unsigned carry = 0;

	(void)state;
	assert_true(ed25519_verify(private_key_public(k), m, sig));
	for (size_t i = 0; i < 32; i++) {
		carry += (unsigned)sig.b[32 + i] + order[i];
		sig.b[32 + i] = (uint8_t)carry;
		carry >>= 8;
	}
	assert_int_equal(carry, 0);
	assert_false(ed25519_verify(private_key_public(k), m, sig));
	assert_false(ed25519_verify_openssl(private_key_public(k), m, sig));
	private_key_free(k);
}

/* Under a key of small order, one signature fits many messages: R = the
 * neutral point, S = 0 satisfies the equation for the neutral key and all. */
static void
test_small_order(void **state)
{
	static const struct public_key keys[] = {
		{ { 1 } },
		{ { 0 } },
		{ { [31] = 0x80 } },
		{ { 0xec, FF10, FF10, FF10, 0x7f } },
		{ { 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3,
		    0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05,
		    0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
		    0xfc, 0x05 } },
	};
	struct signature sig = { { 1 } };

	(void)state;
	/* OpenSSL does not look at the key's order: this is a real danger. */
	assert_true(ed25519_verify_openssl(keys[0], STR("any"), sig));
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		for (char c = 'a'; c <= 'z'; c++)
			assert_false(ed25519_verify(
			    keys[i], (struct str){ &c, 1 }, sig));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc8032),
		cmocka_unit_test(test_libraries_agree),
		cmocka_unit_test(test_new_keys_differ),
		cmocka_unit_test(test_noncanonical_s),
		cmocka_unit_test(test_small_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
