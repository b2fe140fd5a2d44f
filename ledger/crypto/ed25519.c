#include "ledger/crypto/ed25519.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/uid.h"
#include "ledger/crypto/private_key.h"

_Static_assert(sizeof(struct public_key) == crypto_sign_PUBLICKEYBYTES, "");
_Static_assert(sizeof(struct signature) == crypto_sign_BYTES, "");
_Static_assert(
    sizeof(((struct private_key *)0)->expanded) == crypto_sign_SECRETKEYBYTES,
    "");
_Static_assert(SEED_BYTES == crypto_sign_SEEDBYTES, "");

static pthread_once_t sodium_once = PTHREAD_ONCE_INIT;

static void
init_sodium(void)
{
	if (sodium_init() < 0)
		abort();
}

static int
sign_in_memory(const struct private_key *k, struct str s, struct signature *out,
    struct err *e)
{
	(void)e;
	/* Cannot fail: it returns an int for the sake of symmetry. */
	crypto_sign_detached(
	    out->b, NULL, (const uint8_t *)s.p, s.n, k->expanded);
	return 0;
}

static const struct private_key_kind in_memory = { .sign = sign_in_memory };

struct private_key *
private_key_alloc(void)
{
	struct private_key *k;

	pthread_once(&sodium_once, init_sodium);
	k = sodium_malloc(sizeof *k);
	if (k == NULL)
		abort();
	memset(k, 0, sizeof *k);
	return k;
}

void
private_key_seal(struct private_key *k)
{
	sodium_mprotect_readonly(k);
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
	struct private_key *k = private_key_alloc();

	k->kind = &in_memory;
	crypto_sign_seed_keypair(k->public.b, k->expanded, seed);
	private_key_seal(k);
	return k;
}

void
private_key_free(struct private_key *k)
{
	if (k != NULL && k->kind->forget != NULL)
		k->kind->forget(k);
	sodium_free(k);
}

struct public_key
private_key_public(const struct private_key *k)
{
	return k->public;
}

bool
private_key_on_token(const struct private_key *k)
{
	return k->kind->on_token;
}

int
private_key_sign(const struct private_key *k, struct str s,
    struct signature *out, struct err *e)
{
	return k->kind->sign(k, s, out, e);
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
