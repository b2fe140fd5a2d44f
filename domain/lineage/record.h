/*
 * An export as the tables keep it.
 */
#ifndef DOMAIN_LINEAGE_RECORD_H
#define DOMAIN_LINEAGE_RECORD_H

#include "domain/context.h"
#include "ledger/codec/shape.h"

struct export_record {
	struct uid uid;
	struct str scope_type;
	struct uid scope_id;
	int64_t size, events;
	struct instant generated_at;
	struct str key_id;
	/* Once it is sealed; before that no value. */
	struct opt_int sealed_seq, bytes;
	struct digest_text manifest_sha256;
	struct str signature;
	bool kept; /* the manifest is a content of the sealing event */
};

/* 1 found, 0 not in this ledger, -1. c->db is set. */
int export_find(
    struct context *, struct uid, struct export_record *, struct err *);

/* What the worker's job for it is called with. */
struct json *export_job_input(struct arena *, struct uid);

#endif
