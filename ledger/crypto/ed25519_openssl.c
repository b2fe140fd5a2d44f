#include <assert.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "ledger/crypto/private_key.h"

static EVP_PKEY *
as_openssl(const struct private_key *k)
{
	EVP_PKEY *pkey;

	assert(!private_key_on_token(k));
	pkey = EVP_PKEY_new_raw_private_key(
	    EVP_PKEY_ED25519, NULL, k->expanded, SEED_BYTES);
	if (pkey == NULL)
		abort();
	return pkey;
}

struct signature
ed25519_sign_openssl(const struct private_key *k, struct str s)
{
	EVP_PKEY *pkey = as_openssl(k);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	struct signature sig;
	size_t n = sizeof sig.b;

	if (ctx == NULL ||
	    EVP_DigestSignInit(ctx, NULL, NULL, NULL, pkey) != 1 ||
	    EVP_DigestSign(ctx, sig.b, &n, (const uint8_t *)s.p, s.n) != 1)
		abort();
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(pkey);
	return sig;
}

bool
ed25519_verify_openssl(struct public_key k, struct str s, struct signature sig)
{
	EVP_PKEY *pkey = EVP_PKEY_new_raw_public_key(
	    EVP_PKEY_ED25519, NULL, k.b, sizeof k.b);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool good = pkey != NULL && ctx != NULL &&
		    EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pkey) == 1 &&
		    EVP_DigestVerify(ctx, sig.b, sizeof sig.b,
			(const uint8_t *)s.p, s.n) == 1;

	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(pkey);
	return good;
}
