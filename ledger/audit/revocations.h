/*
 * The events that revocations of the ledger's key make void, and how they are
 * told of.
 */
#ifndef LEDGER_AUDIT_REVOCATIONS_H
#define LEDGER_AUDIT_REVOCATIONS_H

#include <stdio.h>

#include "ledger/chain/evidence.h"
#include "ledger/chain/signers.h"

/* Each range ends before its revocation, and none holds events of another. */
struct revocations {
	struct evidence_void ranges[EVIDENCE_KEYS / 2];
	size_t n;
};

/* Notes what the event makes void, if it is a revocation of that ledger. */
void revocations_note(struct revocations *, const struct event *);

/* Those that the keys of a verified ledger have. */
void revocations_of(struct revocations *, const struct signers *);

/* The range that the event is in; NULL: it is not void. */
const struct evidence_void *revocations_find(
    const struct revocations *, uint64_t seq);

/* A line for each range; and [{from_seq, until_seq, revoked_by}]. */
void revocations_write(FILE *, const struct revocations *);
struct json *revocations_json(struct arena *, const struct revocations *);

#endif
