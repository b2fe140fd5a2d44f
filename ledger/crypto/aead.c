#include "ledger/crypto/aead.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>

/* With a key and a nonce of these lengths nothing but memory can be missing. */
static EVP_CIPHER_CTX *
start(const uint8_t *key, const uint8_t *nonce, int encrypts)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();

	if (c == NULL || EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, key,
			     nonce, encrypts) != 1)
		abort();
	return c;
}

/* out is NULL for additional data. */
static void
update(EVP_CIPHER_CTX *c, struct str bytes, uint8_t *out)
{
	int n;

	assert(bytes.n <= AEAD_TEXT_MAX);
	if (bytes.n > 0 && EVP_CipherUpdate(c, out, &n,
			       (const uint8_t *)bytes.p, (int)bytes.n) != 1)
		abort();
}

void
aead_encrypt(const uint8_t key[AEAD_KEY], const uint8_t nonce[AEAD_NONCE],
    struct str aad, struct str clear, uint8_t *out)
{
	EVP_CIPHER_CTX *c = start(key, nonce, 1);
	int n;

	update(c, aad, NULL);
	update(c, clear, out);
	if (EVP_CipherFinal_ex(c, out + clear.n, &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(
		c, EVP_CTRL_AEAD_GET_TAG, AEAD_TAG, out + clear.n) != 1)
		abort();
	EVP_CIPHER_CTX_free(c);
}

bool
aead_decrypt(const uint8_t key[AEAD_KEY], const uint8_t nonce[AEAD_NONCE],
    struct str aad, struct str sealed, uint8_t *out)
{
	uint8_t tag[AEAD_TAG], none[1];
	EVP_CIPHER_CTX *c;
	struct str text;
	bool good;
	int n;

	if (sealed.n < AEAD_TAG || sealed.n - AEAD_TAG > AEAD_TEXT_MAX)
		return false;
	text = str_slice(sealed, 0, sealed.n - AEAD_TAG);
	for (size_t i = 0; i < AEAD_TAG; i++)
		tag[i] = (uint8_t)sealed.p[text.n + i];
	c = start(key, nonce, 0);
	update(c, aad, NULL);
	update(c, text, out);
	good =
	    EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, AEAD_TAG, tag) == 1 &&
	    EVP_CipherFinal_ex(c, none, &n) == 1;
	EVP_CIPHER_CTX_free(c);
	if (!good) {
		OPENSSL_cleanse(out, text.n);
		ERR_clear_error();
	}
	return good;
}
