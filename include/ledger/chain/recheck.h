/*
 * One batch checked again by itself, wherever it stands: all that a verifier
 * finds out from the batch alone (docs/ledger-format.md, "What a verifier must
 * check"), with the contents of its payloads. What ties it to the batches
 * before is verify_ledger's part.
 */
#ifndef LEDGER_CHAIN_RECHECK_H
#define LEDGER_CHAIN_RECHECK_H

#include "ledger/chain/batch.h"
#include "ledger/chain/signers.h"

#define RECHECK_WHY 280

struct recheck;

/* For batches of this ledger, each signed by one of these keys. The repo is the
 * caller's, and outlives it. */
struct recheck *recheck_new(
    struct repo *, struct str origin, const struct signers *);
void recheck_free(struct recheck *);

/* 1 good; 0 not, and why; -1 when it could not be found out. */
int recheck_batch(
    struct recheck *, struct oid commit, char why[RECHECK_WHY], struct err *);

#endif
