/*
 * The worker's part: large exports, and files of them that were lost. Neither
 * holds a snapshot open; the turn is taken for the sealing event alone.
 */
#include <unistd.h>

#include "domain/lineage/events.h"
#include "domain/lineage/files.h"
#include "domain/lineage/group.h"
#include "domain/lineage/render.h"
#include "ledger/base/log.h"
#include "ledger/codec/text.h"

/* Longer than millions of events take, and no longer: the claim of a worker
 * that was killed stands until then. */
#define LEASE_S 3600

struct export_job {
	struct uid export;
};

/* What an attempt hands to its settlement. */
struct rendering_done {
	struct uid export;
	struct digest_text manifest_sha256;
	int64_t bytes;
	struct str signature;
};

/* clang-format off */
SHAPE(export_job, "An export to make",
	FIELD(export_job, export, .required = true, .doc = "Which"));
SHAPE(rendering_done, "An export that was made",
	FIELD(rendering_done, export, .required = true, .doc = "Which"),
	FIELD(rendering_done, manifest_sha256, .required = true, .doc = "SHA-256 of its manifest"),
	FIELD(rendering_done, bytes, .required = true, .min = 1, .doc = "Bytes of it"),
	FIELD(rendering_done, signature, .required = true, .max = BASE64_LENGTH(64), .doc = "Signature of its envelope, base64"));
/* clang-format on */

static int export_run(
    struct context *, const struct job *, const struct json **, struct err *);
static int export_settle(
    struct context *, const struct job *, const struct json *, struct err *);
static bool file_due(struct context *);
static int file_run(
    struct context *, const struct job *, const struct json **, struct err *);

const struct job_kind job_lineage_export = {
	.name = "lineage.export",
	.lease_s = LEASE_S,
	.attempts = 3,
	.run = export_run,
	.settle = export_settle,
	.no_reading = true,
};

const struct job_kind job_lineage_file = {
	.name = "lineage.file",
	.lease_s = LEASE_S,
	.attempts = 3,
	.run = file_run,
	.due = file_due,
	.no_reading = true,
};

static int
read_record(
    struct context *c, struct uid uid, struct export_record *out, struct err *e)
{
	struct context own = *c;
	struct reading reading;
	int found;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	own.db = reading.db;
	found = export_find(&own, uid, out, e);
	ledger_read_end(&reading);
	if (found == 0)
		return err_set(e, &err_not_found, "there is no such export");
	return found < 0 ? -1 : 0;
}

/* With the key that was certified when the export was asked for. */
static int
sign(struct context *c, const struct export_record *x,
    const struct rendered *rendered, struct signature *out, struct err *e)
{
	struct manifest_key key;
	const char *path;
	int rc;

	if (manifest_key_open(c, &key, e))
		return -1;
	if (!str_eq(key.id, x->key_id))
		rc = err_set(e, &err_conflict,
		    "the manifest key was replaced; ask for the export again");
	else
		rc = export_path(c, x->uid, "", &path, e) ||
			     sign_file(&key, path, rendered->bytes, out, e)
			 ? -1
			 : 0;
	manifest_key_close(&key);
	return rc;
}

static int
export_run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	char *text = arena_alloc(c->arena, BASE64_LENGTH(64) + 1);
	struct rendering_done done;
	struct signature signature;
	struct rendered rendered;
	struct export_record x;
	struct export_job in;

	if (shape_decode_json(
		&export_job_shape, job->input, c->arena, &in, e) ||
	    read_record(c, in.export, &x, e) ||
	    render_file(c, &x, &rendered, e) ||
	    sign(c, &x, &rendered, &signature, e))
		return -1;
	base64_encode(signature.b, sizeof signature.b, text);
	done = (struct rendering_done){
		.export = x.uid,
		.manifest_sha256 = { digest_hex_str(
		    c->arena, rendered.sha256) },
		.bytes = (int64_t)rendered.bytes,
		.signature = str_from(text),
	};
	*result = shape_encode(&rendering_done_shape, &done, c->arena);
	return 0;
}

static int
export_settle(struct context *c, const struct job *job,
    const struct json *result, struct err *e)
{
	struct lineage_export_sealed data;
	struct rendering_done done;
	struct export_record x;
	int found;

	(void)job;
	if (shape_decode_json(
		&rendering_done_shape, result, c->arena, &done, e))
		return -1;
	found = export_find(c, done.export, &x, e);
	if (found != 1)
		return found < 0 ? -1
				 : err_set(e, &err_not_found,
				       "there is no such export");
	data = (struct lineage_export_sealed){
		.scope_type = x.scope_type,
		.scope_id = x.scope_id,
		.size = x.size,
		.events = x.events,
		.generated_at = x.generated_at,
		.key_id = x.key_id,
		.manifest_sha256 = done.manifest_sha256,
		.bytes = done.bytes,
		.signature = done.signature,
	};
	return context_emit(
	    c, &event_lineage_export_sealed, "lineage_export", x.uid, &data, e);
}

static bool
file_due(struct context *c)
{
	struct err e = { 0 };
	struct uid uid;
	int found = export_wanted(c, &uid, &e);

	if (found < 0)
		log_line(LOG_WARN, "worker",
		    "cannot look for exports that are wanted: %s", e.detail);
	return found == 1;
}

/* The bytes must be those that were sealed. */
static int
make_again(struct context *c, struct uid uid, struct err *e)
{
	struct rendered rendered;
	struct export_record x;
	const char *path;

	if (read_record(c, uid, &x, e) || export_path(c, uid, "", &path, e))
		return -1;
	if (!x.sealed_seq.set || export_is_there(c, uid, x.bytes.v))
		return 0;
	if (render_file(c, &x, &rendered, e))
		return -1;
	if (str_eq(digest_hex_str(c->arena, rendered.sha256),
		x.manifest_sha256.hex))
		return 0;
	unlink(path);
	return err_set(
	    e, &err_corrupt, "an export came out otherwise than it was sealed");
}

/* A wish is over when it was tried: who still wants it asks again. */
static int
file_run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	struct json *v = json_object(c->arena);
	struct uid uid;
	int64_t n = 0;
	int found;

	(void)job;
	while ((found = export_wanted(c, &uid, e)) == 1) {
		const char *path;

		if (export_path(c, uid, FILE_WANTED, &path, e))
			return -1;
		unlink(path);
		if (make_again(c, uid, e))
			return -1;
		n++;
	}
	json_put_int(c->arena, v, "files", n);
	*result = v;
	return found;
}
