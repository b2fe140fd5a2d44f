/*
 * One event of the ledger as an OpenLineage 2-0-2 RunEvent: a run that is
 * complete, whose job is the event's type, whose outputs are its subject and
 * what it made, whose inputs are the other records that its data names.
 */
#ifndef DOMAIN_LINEAGE_RUN_EVENT_H
#define DOMAIN_LINEAGE_RUN_EVENT_H

#include "domain/context.h"

/* In c->arena; c->db is set. */
int run_event_make(struct context *, const struct stored_event *,
    struct json **out, struct err *);

#endif
