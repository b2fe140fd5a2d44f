#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/hash.h"

static void
expect_digest(struct digest d, const char *hex)
{
	char got[DIGEST_HEX + 1];

	digest_hex(d, got);
	assert_string_equal(got, hex);
}

/* FIPS 180-4 examples. */
static void
test_sha256(void **state)
{
	(void)state;
	expect_digest(sha256(STR("abc")),
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	expect_digest(sha256(STR("")),
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	expect_digest(sha256(STR_NONE),
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	expect_digest(
	    sha256(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmn"
		       "omnopnopq")),
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void
test_sha512(void **state)
{
	uint8_t out[64];
	char hex[129];

	(void)state;
	sha512(STR("abc"), out);
	hex_encode(out, sizeof out, hex);
	assert_string_equal(hex,
	    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	    "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

/* However the input is cut, the digest is that of the whole. */
static void
test_pieces(void **state)
{
	char bytes[1000];
	struct str whole = { bytes, sizeof bytes };

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7);
	for (size_t cut = 0; cut <= sizeof bytes; cut += 37) {
		struct str parts[] = { str_slice(whole, 0, cut), STR_NONE,
			str_slice(whole, cut, sizeof bytes) };
		struct sha256_stream *s = sha256_stream_new();

		for (int i = 0; i < 3; i++)
			sha256_stream_add(s, parts[i]);
		assert_true(digest_eq(sha256_stream_end(s), sha256(whole)));
		assert_true(digest_eq(sha256_parts(parts, 3), sha256(whole)));
	}
}

/* RFC 4231, test cases 1, 2, 6 and 7. */
static void
test_hmac(void **state)
{
	char long_key[131], short_key[20];
	struct str hi = STR("Hi There");
	struct str split[] = { STR("what do ya want "), STR("for nothing?") };
	struct str six =
	    STR("Test Using Larger Than Block-Size Key - Hash Key First");
	struct str seven =
	    STR("This is a test using a larger than block-size key and a "
		"larger than block-size data. The key needs to be hashed "
		"before being used by the HMAC algorithm.");

	(void)state;
	memset(short_key, 0x0b, sizeof short_key);
	memset(long_key, 0xaa, sizeof long_key);
	expect_digest(
	    hmac_sha256((struct str){ short_key, sizeof short_key }, &hi, 1),
	    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	expect_digest(hmac_sha256(STR("Jefe"), split, 2),
	    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	expect_digest(
	    hmac_sha256((struct str){ long_key, sizeof long_key }, &six, 1),
	    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	expect_digest(
	    hmac_sha256((struct str){ long_key, sizeof long_key }, &seven, 1),
	    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

static void
test_hex(void **state)
{
	struct digest d, again;
	char hex[DIGEST_HEX + 1];

	(void)state;
	d = sha256(STR("x"));
	digest_hex(d, hex);
	assert_true(digest_from_hex(str_from(hex), &again));
	assert_true(digest_eq(d, again));
	again.b[31] ^= 1;
	assert_false(digest_eq(d, again));
	assert_false(digest_from_hex((struct str){ hex, 62 }, &again));
	hex[3] = 'G';
	assert_false(digest_from_hex(str_from(hex), &again));
	hex[3] = 'A';
	assert_false(digest_from_hex(str_from(hex), &again));
}

static void
test_constant_time_eq(void **state)
{
	(void)state;
	assert_true(constant_time_eq("secret", "secret", 6));
	assert_false(constant_time_eq("secret", "secreu", 6));
	assert_false(constant_time_eq("Secret", "secret", 6));
	assert_true(constant_time_eq("a", "b", 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_sha512),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_hmac),
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_constant_time_eq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
