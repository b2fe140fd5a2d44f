/*
 * Batches of a small ledger that change its keys. Every function ends the test
 * program when it fails.
 *
 *	key_batch_rotate(l, small_ledger_stranger());
 *	small_ledger_add(l, 1);
 */
#ifndef TESTS_SUPPORT_KEY_BATCH_H
#define TESTS_SUPPORT_KEY_BATCH_H

#include "tests/support/small_ledger.h"

/* The event that puts the other key in force, not yet sealed; the ledger's
 * signers are as it makes them. */
struct parts key_batch_draft_rotation(
    struct small_ledger *, struct signer *next);

/* A batch of that event alone. The ledger owns the other signer then, and `key`
 * stays the first one. */
void key_batch_rotate(struct small_ledger *, struct signer *next);

/* A batch of the revocation of all that came after that size, which had that
 * root; signed by the recovery key. The ledger owns the other signer then. What
 * allowed_signers says of times is not what it would have to be. */
void key_batch_revoke(struct small_ledger *, uint64_t last_good,
    struct digest root, struct signer *next);

#endif
