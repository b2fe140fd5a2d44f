#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/uid.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/ed25519_stream.h"

#define VECTORS "tests/vectors/ed25519/rfc8032.txt"
#define LARGE   (3u << 20)

/* A message in memory, given in pieces of odd sizes. */
struct pieces {
	struct str all;
	size_t at, step;
	int readings;
	bool changes, fails; /* at the second reading */
	char changed;
};

static int
pieces_rewind(void *arg, struct err *e)
{
	struct pieces *p = arg;

	(void)e;
	p->at = 0;
	p->readings++;
	return 0;
}

static int
pieces_next(void *arg, struct str *piece, struct err *e)
{
	struct pieces *p = arg;

	if (p->fails && p->readings == 2)
		return err_set(e, &err_unavailable, "the disk is gone");
	*piece = str_slice(p->all, p->at, p->at + p->step);
	if (p->changes && p->readings == 2 && piece->n > 0) {
		p->changed = (char)(piece->p[0] ^ 1);
		*piece = (struct str){ &p->changed, 1 };
	}
	p->at += piece->n;
	return 0;
}

static struct signature
sign_pieces(const struct private_key *k, struct str message, size_t step)
{
	struct pieces p = { .all = message, .step = step };
	struct ed25519_source source = { pieces_rewind, pieces_next, &p };
	struct signature sig;

	assert_int_equal(ed25519_sign_stream(k, &source, &sig, NULL), 0);
	assert_int_equal(p.readings, 2);
	return sig;
}

static bool
verify_pieces(
    struct public_key k, struct str message, struct signature sig, size_t step)
{
	struct ed25519_verifier *v = ed25519_verify_begin(k, sig);

	for (size_t at = 0; at < message.n; at += step)
		ed25519_verify_add(v, str_slice(message, at, at + step));
	return ed25519_verify_end(v);
}

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

static void
test_rfc8032(void **state)
{
	FILE *f = fopen(VECTORS, "r");
	char line[2100], message[1023];
	struct str s;
	int count = 0;

	(void)state;
	assert_non_null(f);
	for (; next_line(f, line, &s); count++) {
		struct signature sig, wanted;
		struct private_key *k;
		struct public_key key;
		uint8_t seed[32];
		size_t n;

		assert_true(hex_decode(s, seed, sizeof seed));
		assert_true(next_line(f, line, &s));
		assert_true(hex_decode(s, key.b, sizeof key.b));
		assert_true(next_line(f, line, &s));
		n = str_is(s, "-") ? 0 : s.n / 2;
		assert_true(n == 0 || hex_decode(s, message, n));
		assert_true(next_line(f, line, &s));
		assert_true(hex_decode(s, wanted.b, sizeof wanted.b));
		k = private_key_from_seed(seed);
		sig = sign_pieces(k, (struct str){ message, n }, 7);
		assert_memory_equal(sig.b, wanted.b, sizeof sig.b);
		assert_true(
		    verify_pieces(key, (struct str){ message, n }, wanted, 13));
		private_key_free(k);
	}
	fclose(f);
	assert_int_equal(count, 5);
}

/* The same signature as the one-shot function's, accepted by it and by
 * OpenSSL; theirs accepted here; and nothing changed is. */
static void
expect_equal(char *bytes, size_t n, size_t step)
{
	struct private_key *k = private_key_new();
	struct public_key key = private_key_public(k);
	struct str m = { bytes, n };
	struct signature sig = sign_pieces(k, m, step), whole;

	assert_int_equal(private_key_sign(k, m, &whole, NULL), 0);
	assert_memory_equal(sig.b, whole.b, sizeof sig.b);
	assert_true(ed25519_verify_openssl(key, m, sig));
	assert_true(verify_pieces(key, m, whole, step));
	if (n > 0) {
		bytes[n / 2] ^= 1;
		assert_false(verify_pieces(key, m, sig, step));
		bytes[n / 2] ^= 1;
	}
	for (size_t i = 0; i < sizeof sig.b; i += 7) {
		sig.b[i] ^= (uint8_t)(1 << (i % 8));
		assert_false(verify_pieces(key, m, sig, step));
		sig.b[i] ^= (uint8_t)(1 << (i % 8));
	}
	private_key_free(k);
}

static void
test_equal_to_one_shot(void **state)
{
	char *bytes = malloc(LARGE);
	uint16_t draw[2];

	(void)state;
	assert_non_null(bytes);
	random_bytes(bytes, LARGE);
	for (size_t n = 0; n < 300; n += 11)
		expect_equal(bytes, n, n % 17 + 1);
	for (int i = 0; i < 10; i++) {
		random_bytes(draw, sizeof draw);
		expect_equal(bytes, draw[0], draw[1] % 4096 + 1u);
	}
	expect_equal(bytes, LARGE, 65536);
	free(bytes);
}

/* What signs a message that changes would give the key away. */
static void
test_refuses_a_changing_message(void **state)
{
	static const uint8_t seed[32] = { 7 };
	struct private_key *k = private_key_from_seed(seed);
	struct pieces p = { .all = STR("message"), .step = 3, .changes = true };
	struct ed25519_source source = { pieces_rewind, pieces_next, &p };
	struct signature sig = { { 0 } }, none = { { 0 } };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(ed25519_sign_stream(k, &source, &sig, &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
	assert_memory_equal(sig.b, none.b, sizeof sig.b);
	p = (struct pieces){ .all = STR("message"), .step = 3, .fails = true };
	err_clear(&e);
	assert_int_equal(ed25519_sign_stream(k, &source, &sig, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	assert_memory_equal(sig.b, none.b, sizeof sig.b);
	private_key_free(k);
}

/* S and S + L make the same point: only the smaller is a signature. */
static void
test_noncanonical_s(void **state)
{
	static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63,
		0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
		0x14, [31] = 0x10 };
	static const uint8_t seed[32] = { 5 };
	struct private_key *k = private_key_from_seed(seed);
	struct public_key key = private_key_public(k);
	struct signature sig;
	unsigned carry = 0;

	(void)state;
	assert_int_equal(private_key_sign(k, STR("m"), &sig, NULL), 0);
	assert_true(verify_pieces(key, STR("m"), sig, 1));
	for (size_t i = 0; i < 32; i++) {
		carry += (unsigned)sig.b[32 + i] + order[i];
		sig.b[32 + i] = (uint8_t)carry;
		carry >>= 8;
	}
	assert_false(verify_pieces(key, STR("m"), sig, 1));
	private_key_free(k);
}

/* Keys and points of small order, and a key that is no point at all. */
static void
test_invalid_points(void **state)
{
	static const struct public_key keys[] = {
		{ { 1 } },
		{ { 0 } },
		{ { [31] = 0x80 } },
		{ { 2 } },
	};
	struct signature sig = { { 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		for (char c = 'a'; c <= 'z'; c++)
			assert_false(verify_pieces(
			    keys[i], (struct str){ &c, 1 }, sig, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc8032),
		cmocka_unit_test(test_equal_to_one_shot),
		cmocka_unit_test(test_refuses_a_changing_message),
		cmocka_unit_test(test_noncanonical_s),
		cmocka_unit_test(test_invalid_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
