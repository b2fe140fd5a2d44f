/*
 * An export: its manifest and what proves it, or how far the worker is with
 * it; or the manifest in another rendering.
 */
#include "domain/lineage/files.h"
#include "domain/lineage/group.h"
#include "domain/lineage/kept.h"
#include "domain/lineage/rendering.h"
#include "domain/lineage/stream.h"
#include "ledger/base/embed.h"

/* The worker looks once a minute for files that are wanted. */
#define AGAIN_RETRY_S 60
#define RENDERED_MAX  (24u << 20)

#define TYPE_PROV   "application/json;profile=prov"
#define TYPE_REPORT "text/html; charset=utf-8"

struct lineage_export_query {
	struct uid uid;
	struct str rendering;
};

/* clang-format off */
SHAPE(lineage_export_query, "Which export, and how",
	FIELD(lineage_export_query, uid, .place = IN_PATH, .required = true, .doc = "Identifier of the export"),
	FIELD(lineage_export_query, rendering, .place = IN_QUERY, .values = VALUES("manifest", "prov", "html"), .doc = "manifest, prov for PROV-JSON, or html for a report; as the Accept header says when absent"));
/* clang-format on */

EMBED(lineage_export_show_examples,
    "domain/lineage/examples/lineage_export.show.json");
READ_OPERATION(lineage_export_show, lineage_export_query, lineage_export,
    .id = "lineage_export.show", .method = "GET",
    .path = "/api/v2/infrastructure/lineage-exports/{uid}",
    .examples = lineage_export_show_examples, .scope = "infrastructure:lineage",
    .entitlement = "infrastructure", .product = PRODUCT,
    .renderings = VALUES(TYPE_PROV, TYPE_REPORT),
    .refusals = REFUSES(&err_rendering_too_large, &err_export_file_gone),
    .summary = "Read a lineage export: its sealed manifest, or how far it is");

static int
show_waiting(struct context *c, const struct export_record *x,
    struct lineage_export *out, struct err *e)
{
	struct job_state job = { .status = STR("queued") };

	if (job_find(c, &job_lineage_export, export_job_input(c->arena, x->uid),
		&job, e) < 0)
		return -1;
	if (str_is(job.status, "failed") || str_is(job.status, "cancelled")) {
		*out = export_waiting(c, x, "failed", 0);
		out->fault = job.fault;
		return 0;
	}
	*out = str_is(job.status, "queued") ? export_waiting(c, x, "queued", 0)
					    : export_waiting(c, x, "rendering",
						  export_progress(c, x->uid));
	c->retry_after_s = EXPORT_RETRY_S;
	return 0;
}

/* A file may be lost: it is not in backups, and who needs the space may remove
 * it. The same bytes can be made again. */
static int
show_large(struct context *c, const struct export_record *x, struct err *e)
{
	if (export_is_there(c, x->uid, x->bytes.v))
		return stream_reply(c, x, &c->content, e);
	if (export_want(c, x->uid, e))
		return -1;
	err_set(e, &err_export_file_gone,
	    "the export's file is gone; the worker makes it again");
	e->retry_after_s = AGAIN_RETRY_S;
	return -1;
}

static int
render(struct context *c, const struct export_record *x, enum rendering which,
    struct buf *b, struct err *e)
{
	struct str bytes;
	struct json *manifest;

	if (kept_manifest(c, x, &bytes, e) ||
	    rendering_parse(c->arena, bytes, &manifest, e))
		return -1;
	return which == RENDERING_PROV ? prov_render(c->arena, manifest, b, e)
				       : report_render(c->arena, manifest,
					     x->manifest_sha256.hex, b, e);
}

static int
show_rendered(struct context *c, const struct export_record *x,
    enum rendering which, struct err *e)
{
	struct content *content = ARENA_NEW(c->arena, struct content);
	struct err why = { 0 };
	struct buf b;
	int rc;

	if (!x->kept)
		return err_set(e, &err_rendering_too_large,
		    "the export has %lld events", (long long)x->events);
	buf_init(&b, RENDERED_MAX);
	rc = render(c, x, which, &b, &why);
	if (rc)
		err_set(e,
		    why.kind == &err_too_large ? &err_rendering_too_large
					       : why.kind,
		    "%s", why.detail);
	content->bytes = arena_str(c->arena, buf_str(&b));
	content->media_type = which == RENDERING_PROV ? TYPE_PROV : TYPE_REPORT;
	buf_fini(&b);
	c->content = content;
	return rc;
}

static int
lineage_export_show_read(struct context *c,
    const struct lineage_export_query *in, struct lineage_export *out,
    struct err *e)
{
	enum rendering which = rendering_choose(in->rendering, c->accept);
	struct export_record x;
	int found = export_find(c, in->uid, &x, e);

	if (found == 0)
		return err_set(e, &err_not_found, "there is no such export");
	if (found < 0)
		return -1;
	if (!x.sealed_seq.set)
		return show_waiting(c, &x, out, e);
	if (which != RENDERING_MANIFEST)
		return show_rendered(c, &x, which, e);
	return x.kept ? kept_reply(c, &x, out, e) : show_large(c, &x, e);
}
