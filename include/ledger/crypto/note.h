/*
 * C2SP signed notes, Ed25519 signatures (algorithm byte 0x01), and the C2SP
 * tlog-checkpoint text inside them:
 *
 *	<origin>
 *	<size>
 *	<root, base64>
 *
 *	— <name> <base64 of key id and signature>
 */
#ifndef LEDGER_CRYPTO_NOTE_H
#define LEDGER_CRYPTO_NOTE_H

#include "ledger/base/arena.h"
#include "ledger/base/buf.h"
#include "ledger/crypto/hash.h"
#include "ledger/crypto/signer.h"

#define NOTE_MAX 65536

/* First four bytes, big-endian, of SHA-256(name LF 0x01 key). */
uint32_t note_key_id(struct str name, struct public_key);

/* "name+%08x+base64(0x01 key)". */
void note_verifier_key(struct buf *, struct str name, struct public_key);

/* Appends text (ending in LF), the blank line and the signer's signature. */
int note_sign(
    const struct signer *, struct str text, struct buf *, struct err *);

struct note_signature {
	struct str name;
	uint32_t key_id;
	struct str bytes; /* after the key id */
};
struct note {
	struct str text; /* ends in LF */
	struct note_signature *signatures;
	size_t n;
};

/* err_malformed for anything that is not a signed note; at most 100 lines. */
int note_parse(struct arena *, struct str bytes, struct note *, struct err *);

/* The note in a file that somebody kept: without the one line end more that
 * tools write after what they print. Nothing of it is signed. */
struct str note_kept(struct str bytes);

/* Whether a signature by this key is there and good, and no signature under
 * this name and key id is bad. */
bool note_verify(const struct note *, struct str name, struct public_key);

struct checkpoint {
	struct str origin;
	uint64_t size;
	struct digest root;
};

void checkpoint_text(struct buf *, const struct checkpoint *);

/* The text of a note as a checkpoint; extension lines are err_malformed. */
int checkpoint_parse(struct str text, struct checkpoint *, struct err *);

/* Whether the text is a name for a ledger: [a-z0-9-]+(\.[a-z0-9-]+)+
 * (/[a-z0-9._-]+)+, at most 200 bytes. */
bool origin_is_valid(struct str);

#endif
