/*
 * Financial Actions as other groups see them: what one came from.
 */
#ifndef DOMAIN_ACTIONS_H
#define DOMAIN_ACTIONS_H

#include "domain/context.h"
#include "ledger/codec/shape.h"

/* What an action's envelope, fixed for ever, names. */
struct action_origins {
	struct uid source;      /* the sealed source record */
	struct uid arrangement; /* none: the source has none */
	int64_t connector_id, counterparty_id;
	struct digest_text envelope_hash;
};

/* 1 found, 0 not in this ledger, -1. Whoever created it; c->reading is set. */
int action_find_origins(
    struct context *, struct uid, struct action_origins *, struct err *);

#endif
