/*
 * DSSE, Dead Simple Signing Envelope (secure-systems-lab/dsse, protocol 1.0.2
 * and envelope 1.0.0), with one Ed25519 signature, in parts, so that neither
 * signing nor writing nor verifying needs the payload in memory:
 *
 *	{"payload":"<base64>","payloadType":"…","signatures":[{"keyid":"…",
 *	"sig":"<base64>"}]}
 *
 * in canonical form (RFC 8785). Writing one:
 *
 *	dsse_sign(key, type, n, &payload, &sig, e)
 *	dsse_head(&b); …base64 of the payload… dsse_tail(&b, type, key, sig);
 */
#ifndef LEDGER_CRYPTO_DSSE_H
#define LEDGER_CRYPTO_DSSE_H

#include "ledger/base/buf.h"
#include "ledger/crypto/ed25519_stream.h"

/* The type of an in-toto Statement. */
#define DSSE_IN_TOTO "application/vnd.in-toto+json"

/* "SHA256:<base64 without padding>": the fingerprint that OpenSSH prints. */
#define DSSE_KEYID 50
void dsse_keyid(struct public_key, char out[DSSE_KEYID + 1]);

/* What is signed is the PAE, the pre-authentication encoding: this, and right
 * after it the payload of n bytes. */
void dsse_pae_head(struct buf *, struct str payload_type, uint64_t n);

/* Signs the PAE of the payload that the source gives, n bytes; err_internal
 * when it gives another number of them. See ed25519_sign_stream. */
int dsse_sign(const struct private_key *, struct str payload_type, uint64_t n,
    const struct ed25519_source *payload, struct signature *out, struct err *);

/* A verifier that has had the PAE's head: the payload's n bytes are to be
 * added to it. */
struct ed25519_verifier *dsse_verify_begin(
    struct public_key, struct str payload_type, uint64_t n, struct signature);

/* The envelope's text before and after the payload's base64. The type is text
 * that JSON need not escape. */
void dsse_head(struct buf *);
void dsse_tail(
    struct buf *, struct str payload_type, struct public_key, struct signature);

#endif
