/*
 * AES-256-GCM (NIST SP 800-38D) with a nonce of 96 bits and a tag of 128.
 * A nonce must never come twice under one key.
 */
#ifndef LEDGER_CRYPTO_AEAD_H
#define LEDGER_CRYPTO_AEAD_H

#include "ledger/base/str.h"

#define AEAD_KEY   32
#define AEAD_NONCE 12
#define AEAD_TAG   16

/* Longest text, far below what GCM permits. */
#define AEAD_TEXT_MAX (64u << 20)

/* Writes clear.n + AEAD_TAG bytes. Text and aad are at most AEAD_TEXT_MAX. */
void aead_encrypt(const uint8_t key[AEAD_KEY], const uint8_t nonce[AEAD_NONCE],
    struct str aad, struct str clear, uint8_t *out);

/* Writes sealed.n - AEAD_TAG bytes. False when key, nonce, aad or a byte is
 * not the one it was encrypted with; what was written is then wiped. */
bool aead_decrypt(const uint8_t key[AEAD_KEY], const uint8_t nonce[AEAD_NONCE],
    struct str aad, struct str sealed, uint8_t *out);

#endif
