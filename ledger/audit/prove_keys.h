/*
 * The keys of an evidence file, gathered while the ledger is read once: which
 * they are from the commits that change allowed_signers, then the lines that
 * name them and their proofs.
 */
#ifndef LEDGER_AUDIT_PROVE_KEYS_H
#define LEDGER_AUDIT_PROVE_KEYS_H

#include "ledger/audit/path.h"
#include "ledger/chain/evidence.h"
#include "ledger/chain/signers.h"

struct prove_keys {
	struct signers signers;
	struct evidence_key keys[EVIDENCE_KEYS];
	uint64_t named_by[EVIDENCE_KEYS];
	struct path *paths[EVIDENCE_KEYS];
	size_t n;
};

/* The first batch, then each one whose allowed_signers are others than those of
 * the batch before. */
int prove_keys_open(struct prove_keys *, struct repo *, struct oid,
    struct arena *, struct err *);
int prove_keys_follow(struct prove_keys *, struct repo *, struct oid,
    struct arena *, struct err *);

/* Once all are known: for the checkpoint of `size` events. */
void prove_keys_begin(struct prove_keys *, uint64_t size, struct arena *);

/* Each line, from event 0 on. */
void prove_keys_take(struct prove_keys *, uint64_t seq, struct str line,
    struct digest leaf, struct arena *);

/* After the last line. */
void prove_keys_finish(
    struct prove_keys *, struct str checkpoint, struct arena *);

#endif
