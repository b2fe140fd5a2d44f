/*
 * Another key in force: rotated by the one before, or put in its place by the
 * recovery key. The new private key lies in signing-next.key, synced, before
 * the event; once the event is durable it takes the place of signing.key, whose
 * bytes are overwritten. Cut short at any step, it is finished by whoever opens
 * the ledger next; before the event, by the next attempt, with the same new
 * key. Other processes find the new key with their next turn.
 */
#ifndef LEDGER_WRITE_KEY_CHANGE_H
#define LEDGER_WRITE_KEY_CHANGE_H

#include "ledger/write/ledger.h"

struct key_change {
	struct public_key old, key;
	bool old_on_token;  /* where it stays: only its file was destroyed */
	uint64_t seq;       /* of the event */
	uint64_t void_from; /* seq, or the first event that is void */
	struct str checkpoint;
};

/*
 * new_key is a file with the private key to be used, or NULL for one made here;
 * its file stays where it is. err_conflict for a key that the ledger had, or
 * where it has had as many as it can; err_invalid without a new_key where the
 * key in force is on a token, whose place no file takes by itself; else as
 * ledger_submit.
 */
int ledger_rotate_key(const struct ledger_options *, const struct actor *,
    const char *new_key, struct arena *, struct key_change *, struct err *);

/*
 * last_good is a size at which a batch ended: what comes after it is void.
 * recovery_key is a file, or NULL for the one among the ledger's keys.
 * signing.key need not be there. err_invalid for another recovery key than that
 * of event 0, or a size at which no batch ended.
 */
int ledger_revoke_key(const struct ledger_options *, const struct actor *,
    uint64_t last_good, const char *recovery_key, const char *new_key,
    struct arena *, struct key_change *, struct err *);

#endif
