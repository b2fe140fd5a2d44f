/*
 * What a ledger's key events say (docs/ledger-format.md, "Keys"): which
 * algorithms it uses, its keys, and from them `allowed_signers`, byte for byte.
 * The writer stores these bytes in every commit, the verifier derives them
 * again.
 */
#ifndef LEDGER_CHAIN_SIGNERS_H
#define LEDGER_CHAIN_SIGNERS_H

#include "ledger/base/buf.h"
#include "ledger/base/instant.h"
#include "ledger/codec/json.h"
#include "ledger/crypto/ed25519.h"
#include "ledger/crypto/hash.h"

#define SIGNERS_MAX  65536 /* bytes of allowed_signers */
#define SIGNERS_KEYS 64    /* that a ledger may have, recovery keys included */

/* The algorithms of version 1, as `ledger.opened` names them. */
#define ALGORITHM_HASH      "sha256"
#define ALGORITHM_TREE      "rfc6962-sha256"
#define ALGORITHM_SIGNATURE "ed25519"

#define TYPE_OPENED "ledger.opened"
#define TYPE_CLOSED "ledger.closed"

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

/* Whether an event of this type puts another key in force after it. */
bool signers_change(struct str type);

/* A key, the events that it signs, and the window of time in which stock git
 * takes its commits: whole seconds, both ends included, 0 for no bound. A
 * window that has no length gives no line. */
struct signers_key {
	struct public_key key;
	uint64_t from_seq;
	bool ended; /* false: in force, until_seq means nothing */
	uint64_t until_seq;
	uint64_t named_by;  /* the event that names it */
	bool recovery;      /* signs one event, a revocation */
	uint64_t void_from; /* of a revocation: the events from there on to
			       before it are void */
	struct instant after, before;
};

/* The keys of a ledger in their order. A value; the origin is borrowed. */
struct signers {
	struct str origin;
	struct public_key recovery;
	struct signers_key keys[SIGNERS_KEYS];
	size_t n;
};

/* With the keys of event 0. */
void signers_open(struct signers *, struct str origin, const struct opened *);

/* The last key; never NULL once opened. */
const struct signers_key *signers_in_force(const struct signers *);

/* The key that signs the event, and the checkpoint of seq + 1 events. */
const struct signers_key *signers_at(const struct signers *, uint64_t seq);

/* The entry of that key; NULL when it never was the ledger's. */
const struct signers_key *signers_find(
    const struct signers *, struct public_key);

/* The revocation by which the event is void; NULL when it is not. */
const struct signers_key *signers_void(const struct signers *, uint64_t seq);

/*
 * What a key event that is number `seq`, of that time, does. err_conflict, and
 * nothing is changed, where the ledger cannot have it: a key that it had
 * before, or more keys than SIGNERS_KEYS.
 */
int signers_rotate(struct signers *, struct public_key next, uint64_t seq,
    struct instant at, struct err *);

/* `last_good` is the time of event size - 1. err_conflict also when `revoked`
 * is not the key that signs event `size`, or the revocation before it would be
 * void. */
struct revoked;
int signers_revoke(struct signers *, const struct revoked *, uint64_t seq,
    struct instant at, struct instant last_good, struct err *);

/* Appends allowed_signers. */
void signers_text(const struct signers *, struct buf *);

/* Reads allowed_signers back, as far as it says anything: of retired keys no
 * number is known, and no recovery key. err_corrupt. */
int signers_parse(
    struct signers *, struct str origin, struct str text, struct err *);

#endif
