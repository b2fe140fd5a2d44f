/*
 * Manifests that the ledger keeps: contents of the events that seal them.
 */
#ifndef DOMAIN_LINEAGE_KEPT_H
#define DOMAIN_LINEAGE_KEPT_H

#include "domain/lineage/reply.h"

/* The manifest's bytes. c->reading is set. */
int kept_manifest(
    struct context *, const struct export_record *, struct str *, struct err *);

/* The whole reply. */
int kept_reply(struct context *, const struct export_record *,
    struct lineage_export *, struct err *);

#endif
