#include "domain/lineage/events.h"

#include "ledger/codec/text.h"
#include "ledger/crypto/dsse.h"

/* clang-format off */
#define SIGNATURE_LENGTH BASE64_LENGTH(64)
#define SCOPE_FIELDS(T) \
	FIELD(T, scope_type, .required = true, .max = 32, .doc = "Kind of record that the export is about"), \
	FIELD(T, scope_id, .required = true, .doc = "That record"), \
	FIELD(T, size, .required = true, .min = 1, .doc = "Events that the manifest's checkpoint covers"), \
	FIELD(T, events, .required = true, .min = 0, .doc = "Events in the manifest"), \
	FIELD(T, generated_at, .required = true, .doc = "The manifest's time"), \
	FIELD(T, key_id, .required = true, .min = DSSE_KEYID, .max = DSSE_KEYID, .doc = "Fingerprint of the key that signs it")

SHAPE(manifest_key_certified, "The ledger vouches for a key that signs manifests",
	FIELD(manifest_key_certified, purpose, .required = true, .values = VALUES("manifest"), .doc = "What it signs"),
	FIELD(manifest_key_certified, public_key, .required = true, .min = PUBLIC_KEY_SSH, .max = PUBLIC_KEY_SSH, .doc = "The key, as an OpenSSH line"),
	FIELD(manifest_key_certified, possession, .required = true, .min = SIGNATURE_LENGTH, .max = SIGNATURE_LENGTH, .doc = "Signature by the key of its statement of possession, base64"));
SHAPE(lineage_export_requested, "A lineage export that the worker is to make",
	SCOPE_FIELDS(lineage_export_requested));
SHAPE(lineage_export_sealed, "A lineage manifest was signed",
	SCOPE_FIELDS(lineage_export_sealed),
	FIELD(lineage_export_sealed, manifest_sha256, .required = true, .doc = "SHA-256 of the manifest's canonical JSON"),
	FIELD(lineage_export_sealed, bytes, .required = true, .min = 1, .doc = "Bytes of it"),
	FIELD(lineage_export_sealed, signature, .required = true, .min = SIGNATURE_LENGTH, .max = SIGNATURE_LENGTH, .doc = "Signature of its DSSE envelope, base64"));
/* clang-format on */

EVENT_TYPE(manifest_key_certified, "manifest_key.certified",
    manifest_key_certified,
    "The ledger vouches for a key that signs lineage manifests");
EVENT_TYPE(lineage_export_requested, "lineage_export.requested",
    lineage_export_requested,
    "A lineage export was asked for that the worker makes");
EVENT_TYPE(lineage_export_sealed, "lineage_export.sealed",
    lineage_export_sealed, "A lineage manifest was made and signed");

static int
project_manifest_key_certified(struct db *db, const struct event *ev,
    const struct manifest_key_certified *d, struct err *e)
{
	char key_id[DSSE_KEYID + 1];
	struct public_key key;

	if (public_key_parse(d->public_key, &key, e))
		return -1;
	dsse_keyid(key, key_id);
	return db_run(db, e,
	    "INSERT INTO manifest_key (key_id, public_key, seq)"
	    " VALUES (?, ?, ?) ON CONFLICT (key_id) DO NOTHING",
	    "ssi", str_from(key_id), d->public_key, (int64_t)ev->seq);
}

static int
project_lineage_export_requested(struct db *db, const struct event *ev,
    const struct lineage_export_requested *d, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO lineage_export (uid, scope_type, scope_id, size,"
	    " events, generated_at, key_id, kept)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, FALSE)",
	    "usuiits", ev->subject, d->scope_type, d->scope_id, d->size,
	    d->events, d->generated_at, d->key_id);
}

/* One that was made at once was not asked for before. */
static int
project_lineage_export_sealed(struct db *db, const struct event *ev,
    const struct lineage_export_sealed *d, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO lineage_export (uid, scope_type, scope_id, size,"
	    " events, generated_at, key_id, sealed_seq, manifest_sha256, bytes,"
	    " signature, kept) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	    " ON CONFLICT (uid) DO UPDATE SET sealed_seq = excluded.sealed_seq,"
	    " manifest_sha256 = excluded.manifest_sha256,"
	    " bytes = excluded.bytes, signature = excluded.signature",
	    "usuiitsisisf", ev->subject, d->scope_type, d->scope_id, d->size,
	    d->events, d->generated_at, d->key_id, (int64_t)ev->seq,
	    d->manifest_sha256.hex, d->bytes, d->signature, ev->n_payloads > 0);
}
