/*
 * The ledger's own upkeep as other groups see it: when it was last verified,
 * and with what outcome.
 */
#ifndef DOMAIN_LEDGER_OPS_H
#define DOMAIN_LEDGER_OPS_H

#include "domain/context.h"
#include "ledger/codec/shape.h"

/* A full verification, as recorded by `ledger.verified`. */
struct verification {
	int64_t size;            /* events in the ledger that was checked */
	struct digest_text root; /* of its Merkle tree */
	struct digest_text head; /* hash of its last event */
	struct str result;       /* passed, failed */
	int64_t events;          /* checked */
	struct str reason;       /* why it failed, or no value */
	struct opt_int failed_seq;
	struct instant started_at, finished_at;
};

extern const struct shape verification_shape;

/* 1 found, 0 never verified, -1. */
int ledger_last_verification(
    struct context *, struct verification *, struct err *);

#endif
