/*
 * C2SP tlog-proof: an inclusion proof as a text file that stands on its own.
 *
 *	c2sp.org/tlog-proof@v1
 *	index <decimal>
 *	<hash, base64>          one line each, from the leaf up
 *
 *	<the signed checkpoint>
 *
 * An `extra <base64>` line before the index is part of the format; Probity
 * writes none and reads it.
 */
#ifndef LEDGER_CHAIN_TLOG_PROOF_H
#define LEDGER_CHAIN_TLOG_PROOF_H

#include "ledger/base/arena.h"
#include "ledger/chain/proof.h"
#include "ledger/crypto/note.h"

struct tlog_proof {
	struct str extra; /* decoded; no value: there is none */
	uint64_t index;
	struct merkle_proof path;
	struct str checkpoint; /* the note, cosignatures included */
};

void tlog_proof_add(struct buf *, const struct tlog_proof *);

/* err_malformed for anything else. The checkpoint is not looked into. */
int tlog_proof_parse(
    struct arena *, struct str text, struct tlog_proof *, struct err *);

/*
 * Whether the proof shows this event in the log of that name and key: the
 * checkpoint is the log's, signed by the key, and the event is the leaf at
 * index. err_malformed, or err_corrupt with what does not hold.
 */
int tlog_proof_check(const struct tlog_proof *, struct arena *,
    struct str event, struct str origin, struct public_key, struct checkpoint *,
    struct err *);

#endif
