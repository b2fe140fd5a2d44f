/*
 * The keys of an evidence file, each checked by the one before.
 */
#ifndef LEDGER_CHAIN_EVIDENCE_KEYS_H
#define LEDGER_CHAIN_EVIDENCE_KEYS_H

#include "ledger/chain/evidence.h"

/* Once event and checkpoint are good: err_corrupt for a key that is not named
 * by an event in the checkpoint's tree, and for an event that is void. Notes
 * what the revocations make void. */
int evidence_check_keys(struct arena *, const struct evidence *,
    struct evidence_shown *, struct err *);

#endif
