/*
 * Ed25519 (RFC 8032) over messages that are never in memory whole: the same
 * signatures as ed25519_sign makes, byte for byte, and none of Ed25519ph's.
 * Signing reads the message twice, since its nonce is a hash of the message;
 * verifying reads it once.
 *
 *	struct ed25519_verifier *v = ed25519_verify_begin(key, sig);
 *	while ((n = read(fd, piece, sizeof piece)) > 0)
 *		ed25519_verify_add(v, (struct str){ piece, (size_t)n });
 *	good = ed25519_verify_end(v);
 */
#ifndef LEDGER_CRYPTO_ED25519_STREAM_H
#define LEDGER_CRYPTO_ED25519_STREAM_H

#include "ledger/crypto/ed25519.h"

/* A message that can be read again from its first byte. */
struct ed25519_source {
	/* Back to the first byte; also called before the first reading. */
	int (*rewind)(void *arg, struct err *);
	/* The next piece, borrowed until the next call; n 0 at the end. */
	int (*next)(void *arg, struct str *piece, struct err *);
	void *arg;
};

/*
 * Signs what the source gives. Two signatures whose second readings differ
 * after the same first one would give the key away, so nothing is signed
 * unless both readings had the same SHA-256: err_internal then. Errors of the
 * source are passed on.
 */
int ed25519_sign_stream(const struct private_key *,
    const struct ed25519_source *, struct signature *out, struct err *);

/*
 * Accepts what ed25519_verify accepts, but for keys outside the group of prime
 * order, which public_key_parse refuses as well.
 */
struct ed25519_verifier;
struct ed25519_verifier *ed25519_verify_begin(
    struct public_key, struct signature);
void ed25519_verify_add(struct ed25519_verifier *, struct str piece);
bool ed25519_verify_end(struct ed25519_verifier *); /* frees it */

#endif
