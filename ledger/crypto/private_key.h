/*
 * What a private key is made of, for the files that need its bytes.
 */
#ifndef LEDGER_CRYPTO_PRIVATE_KEY_H
#define LEDGER_CRYPTO_PRIVATE_KEY_H

#include <openssl/types.h>

#include "ledger/crypto/ed25519.h"

#define SEED_BYTES 32

/* Lives between guard pages, locked into memory and read-only once made. */
struct private_key {
	uint8_t expanded[64]; /* seed, then public key: libsodium's form */
};

/* The key as OpenSSL holds it; never NULL. */
EVP_PKEY *private_key_openssl(const struct private_key *);

#endif
