#include "domain/lineage/reply.h"

#include "domain/lineage/manifest.h"
#include "domain/operation.h"
#include "ledger/chain/tlog_proof.h"
#include "ledger/crypto/dsse.h"

#define PROOF_MAX (NOTE_MAX + 8192)

struct export_scope {
	struct str type;
	struct uid id;
};

struct export_signature {
	struct str keyid, sig;
};

/* The members of a DSSE envelope, spelled as it has them. */
struct export_envelope {
	struct str payload, payloadType;
	struct list signatures;
};

struct export_progress {
	int64_t done, total;
};

/* clang-format off */
SHAPE(export_scope, "What an export is about",
	FIELD(export_scope, type, .required = true, .doc = "workspace, action or source_record"),
	FIELD(export_scope, id, .required = true, .doc = "Identifier of that record"));
SHAPE(export_signature, "A signature of a DSSE envelope",
	FIELD(export_signature, keyid, .required = true, .doc = "Fingerprint of the manifest key"),
	FIELD(export_signature, sig, .required = true, .doc = "Ed25519 signature, base64"));
SHAPE(export_envelope, "The manifest in a DSSE envelope",
	FIELD(export_envelope, payload, .required = true, .max = BASE64_LENGTH(9007199254740991 / 4 * 3), .doc = "The manifest's bytes, base64"),
	FIELD(export_envelope, payloadType, .required = true, .doc = "What the payload is"),
	FIELD(export_envelope, signatures, .required = true, .of = &export_signature_shape, .max = 1, .doc = "The manifest key's signature"));
SHAPE(export_progress, "How far the worker is",
	FIELD(export_progress, done, .required = true, .doc = "Events that are in the manifest by now"),
	FIELD(export_progress, total, .required = true, .doc = "Events that it will hold"));
SHAPE(lineage_export, "A lineage export",
	FIELD(lineage_export, uid, .required = true, .doc = "Identifier"),
	FIELD(lineage_export, status, .required = true, .values = VALUES("queued", "rendering", "sealed", "failed"), .doc = "queued, rendering, sealed or failed"),
	FIELD(lineage_export, scope, .required = true, .of = &export_scope_shape, .doc = "What it is about"),
	FIELD(lineage_export, size, .doc = "Events that the manifest's checkpoint covers"),
	FIELD(lineage_export, event_count, .doc = "Events in the manifest"),
	FIELD(lineage_export, generated_at, .doc = "The manifest's time"),
	FIELD(lineage_export, manifest, .doc = "The manifest, an in-toto Statement; null until it is sealed"),
	FIELD(lineage_export, manifest_sha256, .doc = "SHA-256 of its canonical JSON (RFC 8785)"),
	FIELD(lineage_export, bytes, .doc = "Bytes of its canonical JSON"),
	FIELD(lineage_export, envelope, .of = &export_envelope_shape, .doc = "The manifest, signed"),
	FIELD(lineage_export, proof, .max = PROOF_MAX, .doc = "A C2SP tlog-proof of the event that seals it"),
	FIELD(lineage_export, progress, .of = &export_progress_shape, .doc = "How far the worker is; null once it is sealed"),
	FIELD(lineage_export, fault, .max = 600, .doc = "Why it could not be made"));
/* clang-format on */

static struct lineage_export
common(struct arena *a, const struct export_record *x)
{
	struct export_scope *scope = ARENA_NEW(a, struct export_scope);

	*scope = (struct export_scope){ x->scope_type, x->scope_id };
	return (struct lineage_export){
		.uid = x->uid,
		.scope = scope,
		.size = x->size,
		.event_count = x->events,
		.generated_at = x->generated_at,
	};
}

struct lineage_export
export_waiting(struct context *c, const struct export_record *x,
    const char *status, uint64_t done)
{
	struct export_progress *progress =
	    ARENA_NEW(c->arena, struct export_progress);
	struct lineage_export out = common(c->arena, x);

	progress->total = x->events;
	progress->done = done < (uint64_t)x->events ? (int64_t)done : x->events;
	out.progress = progress;
	out.status = str_from(status);
	return out;
}

static const struct export_envelope *
envelope_of(struct arena *a, const struct export_record *x, struct str payload)
{
	struct export_signature *signature =
	    ARENA_NEW(a, struct export_signature);
	struct export_envelope *v = ARENA_NEW(a, struct export_envelope);

	*signature = (struct export_signature){ x->key_id, x->signature };
	*v = (struct export_envelope){ payload, STR(DSSE_IN_TOTO),
		{ signature, 1 } };
	return v;
}

/* In the tree of the batch that holds it, so that it stays the same. */
static int
proof_of(struct context *c, uint64_t seq, struct str *out, struct err *e)
{
	struct tlog_proof proof = { .index = seq };
	uint64_t size = seq + 1;
	struct buf b;

	if (ledger_read_checkpoint(
		c->reading, &size, c->arena, &proof.checkpoint, e) ||
	    ledger_prove_inclusion(
		c->reading, seq, size, c->arena, &proof.path, e))
		return -1;
	buf_init(&b, PROOF_MAX);
	tlog_proof_add(&b, &proof);
	*out = arena_str(c->arena, buf_str(&b));
	buf_fini(&b);
	return 0;
}

int
export_sealed(struct context *c, const struct export_record *x,
    struct str manifest, struct str payload, struct lineage_export *out,
    struct err *e)
{
	*out = common(c->arena, x);
	out->status = STR("sealed");
	out->manifest = json_written(c->arena, manifest);
	out->manifest_sha256 = x->manifest_sha256;
	out->bytes = x->bytes;
	out->envelope = envelope_of(c->arena, x, payload);
	return proof_of(c, (uint64_t)x->sealed_seq.v, &out->proof, e);
}
