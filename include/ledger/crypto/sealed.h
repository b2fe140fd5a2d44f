/*
 * Personal values: encrypted under a key that can be destroyed, so that a
 * ledger which never forgets can still let go of them.
 *
 * A box is nonce || AES-256-GCM(salt || clear text) || tag. The salt is 32
 * random bytes, so the commitment, SHA-256(salt || clear text), tells nothing
 * once the key is gone: nobody can try texts against it. The additional data
 * bind a box to its ledger, the record that it is about and the member.
 *
 * Whoever shows salt and clear text proves, by the commitment, what was
 * recorded.
 */
#ifndef LEDGER_CRYPTO_SEALED_H
#define LEDGER_CRYPTO_SEALED_H

#include "ledger/base/err.h"
#include "ledger/codec/shape.h"
#include "ledger/crypto/aead.h"

#define SEALED_SALT 32
/* What a box has beside its text. */
#define SEALED_OVERHEAD (AEAD_NONCE + SEALED_SALT + AEAD_TAG)
/* The longest text of an event's member, in bytes. */
#define SEALED_TEXT_MAX 16384

struct content_key {
	struct uid uid;
	uint8_t secret[AEAD_KEY];
};

/* What a box belongs to. */
struct sealed_place {
	struct str origin;  /* of the ledger */
	struct uid subject; /* the record */
	const char *member; /* "name" */
};

/*
 * As it stands in an event; in a shape `const void *` with .of =
 * &sealed_text_shape. Without ciphertext, the box is the event's payload that
 * has this SHA-256.
 */
struct sealed_text {
	struct str ciphertext; /* the box, base64 */
	struct digest_text ciphertext_sha256, commitment;
	struct uid key;
};
extern const struct shape sealed_text_shape;

/* The text in a box, for an event's member. The text is at most
 * SEALED_TEXT_MAX bytes. Everything lies in the arena. */
const struct sealed_text *sealed_text_make(struct arena *,
    const struct content_key *, const struct sealed_place *, struct str clear);

/* The bytes in a box, for a payload; *about names it in the event. At most
 * AEAD_TEXT_MAX - SEALED_SALT bytes. */
struct str sealed_payload_make(struct arena *, const struct content_key *,
    const struct sealed_place *, struct str clear,
    const struct sealed_text **about);

/* The box of an event's member, for a table. err_corrupt when it is not
 * base64. */
int sealed_text_box(
    struct arena *, const struct sealed_text *, struct str *box, struct err *);

/* What is in a box. err_corrupt when it is another's or was changed. */
int sealed_box_open(struct arena *, const struct content_key *,
    const struct sealed_place *, struct str box, struct str *clear,
    struct err *);

/* The same, held against what the event says of it: hash and commitment. */
int sealed_payload_open(struct arena *, const struct content_key *,
    const struct sealed_place *, const struct sealed_text *about,
    struct str box, struct str *clear, struct err *);
int sealed_text_open(struct arena *, const struct content_key *,
    const struct sealed_place *, const struct sealed_text *, struct str *clear,
    struct err *);

#endif
