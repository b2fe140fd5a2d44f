/*
 * An export as replies show it.
 */
#ifndef DOMAIN_LINEAGE_REPLY_H
#define DOMAIN_LINEAGE_REPLY_H

#include "domain/lineage/record.h"
#include "ledger/codec/text.h"

/* A manifest up to here is made at once and kept in the ledger: it and its
 * base64 fit into one reply. */
#define MANIFEST_KEPT_MAX (12u << 20)

struct lineage_export {
	struct uid uid;
	struct str status; /* queued, rendering, sealed, failed */
	const void *scope; /* struct export_scope */
	int64_t size, event_count;
	struct instant generated_at;
	const struct json *manifest;
	struct digest_text manifest_sha256;
	struct opt_int bytes;
	const void *envelope; /* struct export_envelope */
	struct str proof;
	const void *progress; /* struct export_progress */
	struct str fault;
};

extern const struct shape lineage_export_shape;

/* Who asks how it stands may come back after that many seconds. */
#define EXPORT_RETRY_S 5

/* One that waits for the worker, or could not be made. */
struct lineage_export export_waiting(struct context *,
    const struct export_record *, const char *status, uint64_t done);

/* A sealed one; manifest and payload are JSON text and base64 of the manifest,
 * or marks in their place. c->reading is set: the sealing event is proved. */
int export_sealed(struct context *, const struct export_record *,
    struct str manifest, struct str payload, struct lineage_export *,
    struct err *);

#endif
