/*
 * What a ledger's key events say (docs/ledger-format.md, "Keys"): which
 * algorithms it uses, its keys, and from them `allowed_signers`, byte for byte.
 * The writer stores these bytes in every commit, the verifier derives them
 * again.
 */
#ifndef LEDGER_CHAIN_SIGNERS_H
#define LEDGER_CHAIN_SIGNERS_H

#include "ledger/base/buf.h"
#include "ledger/codec/json.h"
#include "ledger/crypto/ed25519.h"
#include "ledger/crypto/hash.h"

#define SIGNERS_MAX 65536 /* bytes of allowed_signers */

/* The algorithms of version 1, as `ledger.opened` names them. */
#define ALGORITHM_HASH      "sha256"
#define ALGORITHM_TREE      "rfc6962-sha256"
#define ALGORITHM_SIGNATURE "ed25519"

#define TYPE_OPENED "ledger.opened"
#define TYPE_CLOSED "ledger.closed"

/* Appends the line of a ledger's first key, valid without bounds. */
void signers_first(struct buf *, struct str origin, struct public_key);

/* The closed ledger that another one continues: its name, and all that it ever
 * held. */
struct continued {
	bool any; /* false: it continues none */
	char origin[201];
	uint64_t size;
	struct digest root, head;
};

/* The data of `ledger.opened`. */
struct opened {
	struct public_key key, recovery;
	struct continued continues;
};

/* As JSON. */
struct json *opened_encode(struct arena *, const struct opened *);

/* err_corrupt for other algorithms, and for anything that opened_encode would
 * not give. */
int opened_decode(const struct json *data, struct opened *, struct err *);

/* Whether version 1 of this program knows what an event of this type does to
 * the keys: true for every type that does nothing to them. `first`: the event
 * is event 0. */
bool signers_know(struct str type, bool first);

#endif
