/*
 * The ledger key's only use. The signer is told which kind of bytes it signs
 * and refuses bytes that do not begin as that kind does (ledger-format,
 * "Keys"), so no signature of one kind can ever be passed off as another.
 */
#ifndef LEDGER_CRYPTO_SIGNER_H
#define LEDGER_CRYPTO_SIGNER_H

#include "ledger/crypto/ed25519.h"

enum signs {
	SIGNS_EVENT,     /* begins with "{" */
	SIGNS_NOTE,      /* begins with the origin and LF */
	SIGNS_COMMIT,    /* begins with "SSHSIG" */
	SIGNS_POSSESSION /* begins with "probity-key/v1" LF */
};

struct signer;

/* Takes the key. The origin is copied. */
struct signer *signer_new(struct private_key *, struct str origin);
void signer_free(struct signer *);

/* Thread-safe. err_internal for bytes of another kind; err_unavailable as
 * private_key_sign. */
int signer_sign(const struct signer *, enum signs, struct str bytes,
    struct signature *out, struct err *);

struct public_key signer_public(const struct signer *);
bool signer_on_token(const struct signer *);
struct str signer_origin(const struct signer *);

/* The key id of the signer's notes and events (see note.h). */
uint32_t signer_key_id(const struct signer *);

#endif
