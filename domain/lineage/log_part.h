/*
 * The parts of a manifest that prove it: the ledger's checkpoint, its key
 * history as of then, the event that certifies the manifest's key, and each
 * event's own line with its path to the root.
 */
#ifndef DOMAIN_LINEAGE_LOG_PART_H
#define DOMAIN_LINEAGE_LOG_PART_H

#include "domain/lineage/manifest.h"

/* {"line", "path", "seq"} of an event in the tree of `size` events; without a
 * path where the whole tree is at hand. c->reading is set. */
int evidence_item(struct context *, const struct stored_event *, uint64_t size,
    bool with_path, struct json **out, struct err *);

/* The member "log". Opens a reading of its own. */
int log_part(
    struct context *, const struct manifest *, struct json **, struct err *);

#endif
