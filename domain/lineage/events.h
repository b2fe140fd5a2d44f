#ifndef DOMAIN_LINEAGE_EVENTS_H
#define DOMAIN_LINEAGE_EVENTS_H

#include "ledger/view/project.h"

/* Data of `manifest_key.certified`: the ledger vouches for a key. */
struct manifest_key_certified {
	struct str purpose;    /* "manifest" */
	struct str public_key; /* OpenSSH line */
	struct str possession; /* base64 of the key's own signature */
};

/* Data of `lineage_export.requested`: everything that its manifest is made
 * from, so that it is the same whenever it is made. */
struct lineage_export_requested {
	struct str scope_type;
	struct uid scope_id;
	int64_t size;   /* events that the manifest's checkpoint covers */
	int64_t events; /* of the scope */
	struct instant generated_at;
	struct str key_id; /* fingerprint of the manifest key */
};

/* Data of `lineage_export.sealed`. A payload PAYLOAD_MANIFEST, where there is
 * one, is the manifest. */
struct lineage_export_sealed {
	struct str scope_type;
	struct uid scope_id;
	int64_t size, events;
	struct instant generated_at;
	struct str key_id;
	struct digest_text manifest_sha256;
	int64_t bytes;
	struct str signature; /* base64, of the DSSE PAE */
};

#define PAYLOAD_MANIFEST "manifest"

extern const struct event_type event_manifest_key_certified,
    event_lineage_export_requested, event_lineage_export_sealed;

#endif
