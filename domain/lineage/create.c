/*
 * Asks for a lineage export. A small one is made before the turn and sealed by
 * the event itself, which keeps it; a large one is left to the worker. Either
 * way what it covers is fixed here: the newest checkpoint, and the time.
 */
#include "domain/lineage/events.h"
#include "domain/lineage/group.h"
#include "domain/lineage/kept.h"
#include "domain/lineage/render.h"
#include "domain/service.h"
#include "ledger/base/embed.h"

/* Large exports that may wait at once: each may fill a disk. */
#define WAITING_MAX 8

struct lineage_export_request {
	struct str scope_type, scope_id;
};

/* What was found out before the turn. */
struct prepared {
	struct export_record record;
	bool sealed;
	struct payload manifest;
};

/* clang-format off */
SHAPE(lineage_export_request, "A lineage export to make",
	FIELD(lineage_export_request, scope_type, .required = true, .values = VALUES("workspace", "action", "source_record"), .doc = "Kind of record that it is about"),
	FIELD(lineage_export_request, scope_id, .required = true, .min = 1, .max = 64, .format = &format_text, .doc = "That record's identifier; a workspace's name will do too"));
/* clang-format on */

PREPARE(lineage_export_create, lineage_export_request)
EMBED(lineage_export_create_examples,
    "domain/lineage/examples/lineage_export.create.json");
WRITE_OPERATION(lineage_export_create, lineage_export_request, lineage_export,
    .id = "lineage_export.create", .method = "POST",
    .path = "/api/v2/infrastructure/lineage-exports",
    .record = "/api/v2/infrastructure/lineage-exports/{uid}",
    .examples = lineage_export_create_examples,
    .scope = "infrastructure:lineage", .entitlement = "infrastructure",
    .product = PRODUCT, .may_wait = true,
    .refusals = REFUSES(&err_exports_waiting),
    .prepare = lineage_export_create_prepare_any,
    .summary = "Make a lineage manifest, sealed with SHA-256 and signed",
    .emits = EMITS(
	&event_lineage_export_sealed, &event_lineage_export_requested));

/* A record of another workspace is not in this ledger's tables. */
static int
find_scope(struct context *c, const struct lineage_export_request *in,
    uint64_t size, struct scope *out, struct err *e)
{
	struct context own = *c;
	struct reading reading;
	int found = -1;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	own.reading = &reading;
	own.db = reading.db;
	if (size > 0 || ledger_read_size(&reading, &size, e) == 0)
		found = scope_find(
		    &own, in->scope_type, in->scope_id, size, out, e);
	ledger_read_end(&reading);
	if (found == 0)
		return err_add_field(e, c->arena, "pointer", "#/scope_id",
		    "unknown", "there is no such %.*s in this workspace",
		    STR_ARGS(in->scope_type));
	return found < 0 ? -1 : 0;
}

static int
newest_checkpoint(struct context *c, struct export_record *x, struct err *e)
{
	struct context own = *c;
	struct signed_root covered;
	struct reading reading;
	int rc;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	own.reading = &reading;
	rc = covered_read(&own, 0, &covered, e);
	ledger_read_end(&reading);
	x->size = (int64_t)covered.size;
	return rc;
}

/* Everything that the manifest is made from. */
static int
fix(struct context *c, const struct lineage_export_request *in,
    const struct manifest_key *key, struct export_record *x, struct err *e)
{
	struct scope scope;

	if (newest_checkpoint(c, x, e) ||
	    find_scope(c, in, (uint64_t)x->size, &scope, e))
		return -1;
	x->scope_type = in->scope_type;
	x->scope_id = scope.uid;
	x->events = (int64_t)scope.n;
	x->generated_at = c->now;
	x->key_id = key->id;
	return 0;
}

static void
set_seal(struct arena *a, const struct signature *signature, struct prepared *p)
{
	char *text = arena_alloc(a, BASE64_LENGTH(64) + 1);
	char hex[DIGEST_HEX + 1];

	base64_encode(signature->b, sizeof signature->b, text);
	digest_hex(p->manifest.sha256, hex);
	p->record.signature = str_from(text);
	p->record.manifest_sha256.hex = arena_str(a, str_from(hex));
	p->record.bytes = (struct opt_int){ true, (int64_t)p->manifest.size };
	p->sealed = true;
}

static int
store(struct context *c, const struct manifest_key *key, struct str bytes,
    struct prepared *p, struct err *e)
{
	struct signature signature;

	p->manifest = (struct payload){ .name = STR(PAYLOAD_MANIFEST),
		.media_type = STR(DSSE_IN_TOTO) };
	if (sign_bytes(key, bytes, &signature, e) ||
	    ledger_store_payload(c->ledger, bytes, &p->manifest, e))
		return -1;
	set_seal(c->arena, &signature, p);
	return 0;
}

/* One that turns out to have too many bytes is left to the worker after all. */
static int
make(struct context *c, const struct manifest_key *key, struct prepared *p,
    struct err *e)
{
	struct err why = { 0 };
	struct memory_sink sink;
	struct manifest m;
	int rc;

	if (manifest_of(c, &p->record, &m, e))
		return -1;
	memory_sink_init(&sink, MANIFEST_KEPT_MAX);
	rc = manifest_write(c, &m, &sink.sink, &why);
	if (rc == 0)
		rc = store(c, key, buf_str(&sink.buf), p, &why);
	else if (why.kind == &err_too_large)
		rc = 0;
	memory_sink_fini(&sink);
	return rc ? err_set(e, why.kind, "%s", why.detail) : 0;
}

static int
lineage_export_create_prepare(
    struct context *c, const struct lineage_export_request *in, struct err *e)
{
	struct prepared *p = ARENA_NEW(c->arena, struct prepared);
	struct manifest_key key;
	struct scope scope;
	int rc;

	c->prepared = p;
	/* No key is made for a request that is refused. */
	if (find_scope(c, in, 0, &scope, e) || manifest_key_open(c, &key, e))
		return -1;
	rc = fix(c, in, &key, &p->record, e);
	if (rc == 0 && p->record.events <=
			   service_config(c->service)->lineage_events_at_once)
		rc = make(c, &key, p, e);
	manifest_key_close(&key);
	return rc;
}

static int
refuse_too_many(struct context *c, struct err *e)
{
	int64_t waiting;

	if (job_count_open(c, &job_lineage_export, &waiting, e))
		return -1;
	if (waiting < WAITING_MAX)
		return 0;
	return err_set(e, &err_exports_waiting,
	    "%lld large exports wait for the worker already",
	    (long long)waiting);
}

static int
emit_request(struct context *c, struct uid uid, const struct export_record *x,
    struct err *e)
{
	struct lineage_export_requested data = {
		.scope_type = x->scope_type,
		.scope_id = x->scope_id,
		.size = x->size,
		.events = x->events,
		.generated_at = x->generated_at,
		.key_id = x->key_id,
	};

	if (refuse_too_many(c, e) ||
	    context_emit(c, &event_lineage_export_requested, "lineage_export",
		uid, &data, e))
		return -1;
	return job_queue(
	    c, &job_lineage_export, export_job_input(c->arena, uid), NULL, e);
}

static int
lineage_export_create_decide(
    struct context *c, const struct lineage_export_request *in, struct err *e)
{
	const struct prepared *p = c->prepared;
	const struct export_record *x = &p->record;
	struct uid uid = tx_uid(c->tx);
	struct lineage_export_sealed data = {
		.scope_type = x->scope_type,
		.scope_id = x->scope_id,
		.size = x->size,
		.events = x->events,
		.generated_at = x->generated_at,
		.key_id = x->key_id,
		.manifest_sha256 = x->manifest_sha256,
		.bytes = x->bytes.v,
		.signature = x->signature,
	};

	(void)in;
	if (!p->sealed)
		return emit_request(c, uid, x, e);
	return context_emit_with(c, &event_lineage_export_sealed,
	    "lineage_export", uid, &data, &p->manifest, 1, e);
}

/* From the event, so that a replay says what was said then. */
static int
record_of(struct context *c, const struct event *ev, struct export_record *out,
    struct err *e)
{
	struct lineage_export_sealed d;

	if (context_event_data(c, ev, &event_lineage_export_sealed, &d, e))
		return -1;
	*out = (struct export_record){
		.uid = ev->subject,
		.scope_type = d.scope_type,
		.scope_id = d.scope_id,
		.size = d.size,
		.events = d.events,
		.generated_at = d.generated_at,
		.key_id = d.key_id,
		.sealed_seq = { true, (int64_t)ev->seq },
		.bytes = { true, d.bytes },
		.manifest_sha256 = d.manifest_sha256,
		.signature = d.signature,
		.kept = true,
	};
	return 0;
}

static int
reply_queued(struct context *c, const struct event *ev,
    struct lineage_export *out, struct err *e)
{
	struct lineage_export_requested d;
	struct export_record x;

	if (context_event_data(c, ev, &event_lineage_export_requested, &d, e))
		return -1;
	x = (struct export_record){
		.uid = ev->subject,
		.scope_type = d.scope_type,
		.scope_id = d.scope_id,
		.size = d.size,
		.events = d.events,
		.generated_at = d.generated_at,
	};
	*out = export_waiting(c, &x, "queued", 0);
	c->status = 202;
	c->retry_after_s = EXPORT_RETRY_S;
	return 0;
}

static int
lineage_export_create_reply(struct context *c, const struct event *ev,
    struct lineage_export *out, struct err *e)
{
	struct export_record x;

	if (str_is(ev->type, event_lineage_export_requested.name))
		return reply_queued(c, ev, out, e);
	return record_of(c, ev, &x, e) ? -1 : kept_reply(c, &x, out, e);
}
