#include "ledger/crypto/ed25519.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/uid.h"
#include "ledger/crypto/private_key.h"

_Static_assert(sizeof(struct public_key) == crypto_sign_PUBLICKEYBYTES, "");
_Static_assert(sizeof(struct signature) == crypto_sign_BYTES, "");
_Static_assert(sizeof(struct private_key) == crypto_sign_SECRETKEYBYTES, "");
_Static_assert(SEED_BYTES == crypto_sign_SEEDBYTES, "");

static pthread_once_t sodium_once = PTHREAD_ONCE_INIT;

static void
init_sodium(void)
{
	if (sodium_init() < 0)
		abort();
}

struct private_key *
private_key_new(void)
{
	uint8_t seed[SEED_BYTES];
	struct private_key *k;

	random_bytes(seed, sizeof seed);
	k = private_key_from_seed(seed);
	sodium_memzero(seed, sizeof seed);
	return k;
}

struct private_key *
private_key_from_seed(const uint8_t seed[SEED_BYTES])
{
	struct private_key *k;
	struct public_key public;

	pthread_once(&sodium_once, init_sodium);
	k = sodium_malloc(sizeof *k);
	if (k == NULL)
		abort();
	crypto_sign_seed_keypair(public.b, k->expanded, seed);
	sodium_mprotect_readonly(k);
	return k;
}

void
private_key_free(struct private_key *k)
{
	sodium_free(k);
}

struct public_key
private_key_public(const struct private_key *k)
{
	struct public_key public;

	memcpy(public.b, k->expanded + SEED_BYTES, sizeof public.b);
	return public;
}

struct signature
ed25519_sign(const struct private_key *k, struct str s)
{
	struct signature sig;

	/* Cannot fail: it returns an int for the sake of symmetry. */
	crypto_sign_detached(
	    sig.b, NULL, (const uint8_t *)s.p, s.n, k->expanded);
	return sig;
}

bool
ed25519_verify(struct public_key k, struct str s, struct signature sig)
{
	pthread_once(&sodium_once, init_sodium);
	return crypto_sign_verify_detached(
		   sig.b, (const uint8_t *)s.p, s.n, k.b) == 0;
}

bool
public_key_eq(struct public_key a, struct public_key b)
{
	return memcmp(a.b, b.b, sizeof a.b) == 0;
}
