/*
 * The keys that somebody has as a ledger's, from elsewhere: any of them may
 * have signed what is checked without the ledger's history at hand. Borrowed.
 *
 *	const struct pinned pinned = { keys, n };
 *	if (pinned_of_note(&pinned, &note, origin, &key, e))
 *		return -1;
 */
#ifndef LEDGER_CHAIN_PINNED_H
#define LEDGER_CHAIN_PINNED_H

#include "ledger/crypto/note.h"

#define PINNED_MAX 64

struct pinned {
	const struct public_key *keys;
	size_t n;
};

bool pinned_has(const struct pinned *, struct public_key);

/*
 * The first of the keys that signed the note under the ledger's name.
 * err_not_found when another key did, whose key id the detail names;
 * err_corrupt when a signature by one of them is bad, or the ledger did not
 * sign it at all.
 */
int pinned_of_note(const struct pinned *, const struct note *,
    struct str origin, struct public_key *out, struct err *);

/* The key id of the note's first signature under that name; false: none. */
bool pinned_note_key_id(
    const struct note *, struct str origin, uint32_t *key_id);

/* The same as pinned_of_note of an event's line. */
struct batch_line;
int pinned_of_line(const struct pinned *, const struct batch_line *,
    struct str origin, struct public_key *out, struct err *);

#endif
