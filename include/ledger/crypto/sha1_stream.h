/*
 * A running SHA-1, for git's packs and their indexes, which end with the SHA-1
 * of what comes before. It finds bytes that rotted; nothing else may rest on
 * it, and it does not look for collisions.
 */
#ifndef LEDGER_CRYPTO_SHA1_STREAM_H
#define LEDGER_CRYPTO_SHA1_STREAM_H

#include "ledger/crypto/hash.h"

struct sha1_stream;
struct sha1_stream *sha1_stream_new(void);
void sha1_stream_add(struct sha1_stream *, struct str);
void sha1_stream_end(struct sha1_stream *, uint8_t out[SHA1_BYTES]); /* frees */

#endif
