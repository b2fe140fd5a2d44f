#include "ledger/crypto/ed25519_stream.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/crypto/hash.h"
#include "ledger/crypto/private_key.h"

#define SCALAR crypto_core_ed25519_SCALARBYTES
#define WIDE   crypto_core_ed25519_NONREDUCEDSCALARBYTES
#define POINT  crypto_core_ed25519_BYTES

_Static_assert(WIDE == crypto_hash_sha512_BYTES, "");

struct ed25519_verifier {
	struct public_key key;
	struct signature sig;
	crypto_hash_sha512_state hash; /* of R, A and the message */
};

static void
hash_add(crypto_hash_sha512_state *h, struct str s)
{
	crypto_hash_sha512_update(h, (const uint8_t *)s.p, s.n);
}

static void
hash_begin(crypto_hash_sha512_state *h, const uint8_t r[POINT],
    const uint8_t public[POINT])
{
	crypto_hash_sha512_init(h);
	crypto_hash_sha512_update(h, r, POINT);
	crypto_hash_sha512_update(h, public, POINT);
}

/* The hash as a number modulo the order of the group. */
static void
hash_end(crypto_hash_sha512_state *h, uint8_t scalar[SCALAR])
{
	uint8_t wide[WIDE];

	crypto_hash_sha512_final(h, wide);
	crypto_core_ed25519_scalar_reduce(scalar, wide);
	sodium_memzero(wide, sizeof wide);
}

static void
reduce(uint8_t out[SCALAR], const uint8_t in[SCALAR])
{
	uint8_t wide[WIDE] = { 0 };

	memcpy(wide, in, SCALAR);
	crypto_core_ed25519_scalar_reduce(out, wide);
	sodium_memzero(wide, sizeof wide);
}

/* One reading of the message into the hash, and its digest. */
static int
read_message(const struct ed25519_source *source, crypto_hash_sha512_state *h,
    struct digest *digest, struct err *e)
{
	struct sha256_stream *all;
	struct str piece;
	int rc;

	if (source->rewind(source->arg, e))
		return -1;
	all = sha256_stream_new();
	while (
	    (rc = source->next(source->arg, &piece, e)) == 0 && piece.n > 0) {
		hash_add(h, piece);
		sha256_stream_add(all, piece);
	}
	*digest = sha256_stream_end(all);
	return rc ? -1 : 0;
}

/* RFC 8032, 5.1.6, steps 2 to 5, from the two halves of the key's hash. */
static int
sign(const uint8_t secret[SCALAR], const uint8_t prefix[32],
    struct public_key public, const struct ed25519_source *source,
    struct signature *out, struct err *e)
{
	crypto_hash_sha512_state h;
	uint8_t nonce[SCALAR], k[SCALAR];
	struct digest first, second;
	int rc = -1;

	crypto_hash_sha512_init(&h);
	crypto_hash_sha512_update(&h, prefix, 32);
	if (read_message(source, &h, &first, e))
		goto out;
	hash_end(&h, nonce);
	crypto_scalarmult_ed25519_base_noclamp(out->b, nonce);
	hash_begin(&h, out->b, public.b);
	if (read_message(source, &h, &second, e))
		goto out;
	if (!digest_eq(first, second)) {
		err_set(e, &err_internal,
		    "the message changed while it was being signed");
		goto out;
	}
	hash_end(&h, k);
	crypto_core_ed25519_scalar_mul(k, k, secret);
	crypto_core_ed25519_scalar_add(out->b + POINT, k, nonce);
	rc = 0;
out:
	sodium_memzero(&h, sizeof h);
	sodium_memzero(nonce, sizeof nonce);
	sodium_memzero(k, sizeof k);
	return rc;
}

int
ed25519_sign_stream(const struct private_key *key,
    const struct ed25519_source *source, struct signature *out, struct err *e)
{
	uint8_t halves[crypto_hash_sha512_BYTES], secret[SCALAR];
	struct signature sig;
	int rc;

	if (key->kind->on_token)
		return err_set(e, &err_unavailable,
		    "a token signs only what it is given whole: this key has"
		    " to be a key file");
	crypto_hash_sha512(halves, key->expanded, SEED_BYTES);
	halves[0] &= 248;
	halves[31] &= 127;
	halves[31] |= 64;
	reduce(secret, halves);
	rc =
	    sign(secret, halves + 32, private_key_public(key), source, &sig, e);
	sodium_memzero(halves, sizeof halves);
	sodium_memzero(secret, sizeof secret);
	if (rc == 0)
		*out = sig;
	return rc;
}

struct ed25519_verifier *
ed25519_verify_begin(struct public_key key, struct signature sig)
{
	struct ed25519_verifier *v = malloc(sizeof *v);

	if (v == NULL)
		abort();
	v->key = key;
	v->sig = sig;
	hash_begin(&v->hash, sig.b, key.b);
	return v;
}

void
ed25519_verify_add(struct ed25519_verifier *v, struct str piece)
{
	hash_add(&v->hash, piece);
}

/* Only the smallest of the numbers that stand for the same one. */
static bool
is_canonical(const uint8_t scalar[SCALAR])
{
	uint8_t reduced[SCALAR];

	reduce(reduced, scalar);
	return memcmp(reduced, scalar, SCALAR) == 0;
}

/* RFC 8032, 5.1.7: R = S B - k A, without the cofactor, and R not of small
 * order, as ed25519_verify has it. */
bool
ed25519_verify_end(struct ed25519_verifier *v)
{
	const uint8_t *s = v->sig.b + POINT;
	uint8_t k[SCALAR], sb[POINT], ka[POINT], r[POINT];
	bool good;

	hash_end(&v->hash, k);
	good = is_canonical(s) &&
	       crypto_core_ed25519_is_valid_point(v->key.b) &&
	       crypto_scalarmult_ed25519_base_noclamp(sb, s) == 0 &&
	       crypto_scalarmult_ed25519_noclamp(ka, k, v->key.b) == 0 &&
	       crypto_core_ed25519_sub(r, sb, ka) == 0 &&
	       crypto_core_ed25519_is_valid_point(r) &&
	       memcmp(r, v->sig.b, POINT) == 0;
	free(v);
	return good;
}
