/*
 * SSHSIG, OpenSSH's signature format (PROTOCOL.sshsig), Ed25519 and SHA-512
 * only. Git commits are signed in the namespace "git".
 */
#ifndef LEDGER_CRYPTO_SSHSIG_H
#define LEDGER_CRYPTO_SSHSIG_H

#include "ledger/base/buf.h"
#include "ledger/base/instant.h"
#include "ledger/crypto/signer.h"

#define SSHSIG_MAX 4096 /* bytes of an armored signature that are read */

/* The bytes that are signed for a message in a namespace. */
void sshsig_preimage(struct buf *, struct str name_space, struct str message);

/* Appends the armored form, LF after each line, the last included. */
void sshsig_armor(
    struct buf *, struct public_key, struct str name_space, struct signature);

/* Signs and appends the armored form. */
int sshsig_sign(const struct signer *, struct str name_space,
    struct str message, struct buf *, struct err *);

struct sshsig {
	struct public_key key;
	struct signature signature;
	char name_space[64];
};

/* Reads an armored signature; err_malformed for anything else. */
int sshsig_parse(struct str armored, struct sshsig *, struct err *);

/* Whether it is a good signature of the message in that namespace; the caller
 * judges the key. */
bool sshsig_verify(
    const struct sshsig *, struct str name_space, struct str message);

/* One allowed_signers line (ssh-keygen(1), ALLOWED SIGNERS), LF at its end.
 * Instants bound the validity; 0 leaves that bound out. Seconds count. */
void allowed_signers_add(struct buf *, struct str principal, struct public_key,
    struct instant valid_after, struct instant valid_before);

#endif
