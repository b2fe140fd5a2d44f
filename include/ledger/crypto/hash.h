/*
 * Hashes: SHA-256 and SHA-512 (FIPS 180-4), HMAC-SHA-256 (RFC 2104).
 */
#ifndef LEDGER_CRYPTO_HASH_H
#define LEDGER_CRYPTO_HASH_H

#include "ledger/base/arena.h"
#include "ledger/base/str.h"

#define DIGEST_BYTES 32
#define DIGEST_HEX   64

struct digest {
	uint8_t b[DIGEST_BYTES];
};

struct digest sha256(struct str);

/* SHA-256 of the parts one after the other. */
struct digest sha256_parts(const struct str *parts, size_t n);

void sha512(struct str, uint8_t out[64]);

/* SHA-1 of the parts one after the other. Only for git's object ids; nothing
 * else may rest on it. It does not look for collisions. */
#define SHA1_BYTES 20
void sha1_parts(const struct str *parts, size_t n, uint8_t out[SHA1_BYTES]);

struct digest hmac_sha256(struct str key, const struct str *parts, size_t n);

bool digest_eq(struct digest, struct digest);
void digest_hex(struct digest, char out[DIGEST_HEX + 1]);
struct str digest_hex_str(struct arena *, struct digest);
bool digest_from_hex(struct str, struct digest *);

/* Equal, in a time that depends on n alone. */
bool constant_time_eq(const void *, const void *, size_t n);

/* A running SHA-256, for contents read in pieces. */
struct sha256_stream;
struct sha256_stream *sha256_stream_new(void);
void sha256_stream_add(struct sha256_stream *, struct str);
struct digest sha256_stream_end(struct sha256_stream *); /* frees it */

#endif
