/*
 * The events that change a ledger's keys (docs/ledger-format.md, "Keys"), and
 * the statement by which a new key shows that its holder has it.
 *
 *	key.rotated  {possession, public_key}
 *	key.revoked  {possession, public_key, revoked, root, size}
 */
#ifndef LEDGER_CHAIN_KEY_EVENT_H
#define LEDGER_CHAIN_KEY_EVENT_H

#include "ledger/codec/json.h"
#include "ledger/crypto/hash.h"
#include "ledger/crypto/signer.h"

#define TYPE_KEY_ROTATED "key.rotated"
#define TYPE_KEY_REVOKED "key.revoked"

#define PURPOSE_LEDGER "ledger"

/* "probity-key/v1 LF <origin> LF <purpose> LF <OpenSSH line> LF" */
void possession_statement(
    struct buf *, struct str origin, struct str purpose, struct public_key);

/* Signed by the key that it is about, which the signer holds. */
int possession_sign(const struct signer *, struct str purpose,
    struct signature *, struct err *);

bool possession_verify(
    struct str origin, struct str purpose, struct public_key, struct signature);

struct rotated {
	struct public_key key;
	struct signature possession;
};

struct revoked {
	struct public_key revoked; /* that signs event `size` */
	uint64_t size;             /* the last good one, more than 0 */
	struct digest root;        /* of that size */
	struct public_key key;     /* in force from now on */
	struct signature possession;
};

/* As JSON; strings in the arena. */
struct json *rotated_encode(struct arena *, const struct rotated *);
struct json *revoked_encode(struct arena *, const struct revoked *);

/* err_corrupt for anything that the encoders would not give, and where the
 * possession statement is not the new key's under this origin. */
int rotated_decode(
    const struct json *data, struct str origin, struct rotated *, struct err *);
int revoked_decode(
    const struct json *data, struct str origin, struct revoked *, struct err *);

/* The one form that public_key_ssh gives, not all that public_key_parse
 * takes. */
bool key_line_decode(struct str text, struct public_key *);
struct json *key_line_encode(struct arena *, struct public_key);

#endif
