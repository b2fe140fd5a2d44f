/*
 * Makes the manifest of an export, in memory or as its file, and signs it.
 */
#ifndef DOMAIN_LINEAGE_RENDER_H
#define DOMAIN_LINEAGE_RENDER_H

#include "domain/lineage/manifest.h"
#include "domain/lineage/manifest_key.h"
#include "domain/lineage/record.h"

/* Fills the scope, the checkpoint and the key's event of a record's manifest.
 * Opens a reading of its own. */
int manifest_of(struct context *, const struct export_record *,
    struct manifest *, struct err *);

struct rendered {
	struct digest sha256;
	uint64_t bytes;
};

/* Makes the file, whole or not at all. */
int render_file(struct context *, const struct export_record *,
    struct rendered *, struct err *);

/* Signatures of the DSSE envelope of bytes, and of a file of that length. */
int sign_bytes(
    const struct manifest_key *, struct str, struct signature *, struct err *);
int sign_file(const struct manifest_key *, const char *path, uint64_t bytes,
    struct signature *, struct err *);

#endif
