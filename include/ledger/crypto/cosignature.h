/*
 * C2SP tlog-cosignature, Ed25519 (algorithm byte 0x04): a witness states that
 * at a time a checkpoint was consistent with all that it had seen of the log.
 * The signature is over
 *
 *	cosignature/v1
 *	time <seconds since 1970>
 *	<the checkpoint's text>
 *
 * and stands in a signature line of a note as the time, 8 bytes big-endian, and
 * the signature's 64.
 */
#ifndef LEDGER_CRYPTO_COSIGNATURE_H
#define LEDGER_CRYPTO_COSIGNATURE_H

#include "ledger/base/instant.h"
#include "ledger/crypto/note.h"

#define WITNESS_NAME_MAX 200

struct witness_key {
	struct str name;
	uint32_t key_id;
	struct public_key key;
};

/* "name+%08x+base64(0x04 key)"; the name is borrowed from the text.
 * err_malformed for anything else, and when the hash is not the key's. */
int witness_key_parse(struct str text, struct witness_key *, struct err *);

/* First four bytes, big-endian, of SHA-256(name LF 0x04 key). */
uint32_t witness_key_id(struct str name, struct public_key);

/* Whether a signature of this witness over the text is there and good, and none
 * of this witness is bad. *line is the good one's line, LF included, in the
 * arena; *at its time, in whole seconds after 1970. */
bool cosignature_verify(const struct note *, const struct witness_key *,
    struct arena *, struct str *line, struct instant *at);

#endif
