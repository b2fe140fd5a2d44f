/*
 * The reply about a large export, made while it is sent: its manifest and the
 * manifest's base64 come from the file, so neither is in memory.
 */
#ifndef DOMAIN_LINEAGE_STREAM_H
#define DOMAIN_LINEAGE_STREAM_H

#include "domain/lineage/record.h"
#include "domain/operation.h"

/* A content that streams. The file is there; c->reading is set. */
int stream_reply(struct context *, const struct export_record *,
    const struct content **, struct err *);

#endif
