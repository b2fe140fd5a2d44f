#include "domain/lineage/manifest.h"

#include "domain/lineage/log_part.h"
#include "domain/lineage/run_event.h"
#include "ledger/codec/canon.h"
#include "ledger/codec/text.h"

/* Materials read at a time. */
#define MATERIALS 500

/* One manifest while it is written. */
struct writing {
	const struct manifest *m;
	struct sink *sink;
	bool first; /* of the list that is being written */
	uint64_t visited;
};

static int
put(struct writing *w, struct str text, struct err *e)
{
	return w->sink->add(w->sink, text, e);
}

static int
put_json(
    struct writing *w, struct arena *a, const struct json *v, struct err *e)
{
	struct str text;

	return canon_str(a, v, &text, e) ? -1 : put(w, text, e);
}

/* A list's item, with the comma before it. */
static int
put_item(
    struct writing *w, struct arena *a, const struct json *v, struct err *e)
{
	if (!w->first && put(w, STR(","), e))
		return -1;
	w->first = false;
	return put_json(w, a, v, e);
}

/* The events are gone through twice, for two lists. */
static void
count(struct writing *w)
{
	w->visited++;
	if (w->m->progress && w->visited % 1024 == 0)
		w->m->progress(w->m->progress_arg, w->visited / 2);
}

static int
put_event(struct context *c, const struct stored_event *stored, void *arg,
    struct err *e)
{
	struct writing *w = arg;
	struct json *v;

	count(w);
	return run_event_make(c, stored, &v, e) ? -1
						: put_item(w, c->arena, v, e);
}

static int
put_evidence(struct context *c, const struct stored_event *stored, void *arg,
    struct err *e)
{
	struct writing *w = arg;
	struct json *v;

	count(w);
	if (evidence_item(
		c, stored, w->m->covered.size, !w->m->scope.complete, &v, e))
		return -1;
	return put_item(w, c->arena, v, e);
}

static int
put_list(struct writing *w, struct context *c, struct str name,
    scope_visit *visit, struct err *e)
{
	w->first = true;
	if (put(w, name, e) || scope_walk(c, &w->m->scope, visit, w, e))
		return -1;
	return put(w, STR("]"), e);
}

static int
put_material(struct writing *w, struct arena *a,
    const struct source_material *material, struct err *e)
{
	struct json *v = json_object(a), *digest = json_object(a);
	char uid[UID_TEXT + 1];

	uid_format(material->uid, uid);
	json_put_str(a, digest, "sha256", material->sha256.hex);
	json_put(v, "digest", digest);
	json_put_str(a, v, "uri", arena_strf(a, "urn:uuid:%s", uid));
	return put_item(w, a, v, e);
}

typedef int lister(struct context *, uint64_t size, int64_t after_id,
    size_t max, struct source_material *, size_t *n, struct err *);

/* Some of the workspace's; *after moves on. */
static int
put_some(struct writing *w, struct context *c, lister *list, int64_t *after,
    size_t *n, struct err *e)
{
	struct source_material *some =
	    arena_array(c->arena, MATERIALS, sizeof *some);
	struct context own = *c;
	struct reading reading;
	int rc;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	own.reading = &reading;
	own.db = reading.db;
	rc = list(&own, w->m->covered.size, *after, MATERIALS, some, n, e);
	ledger_read_end(&reading);
	for (size_t i = 0; rc == 0 && i < *n; i++)
		rc = put_material(w, c->arena, &some[i], e);
	if (*n > 0)
		*after = some[*n - 1].id;
	return rc;
}

static int
put_all(struct writing *w, const struct context *c, lister *list, struct err *e)
{
	struct context own = *c;
	int64_t after = 0;
	size_t n = MATERIALS;
	int rc = 0;

	own.arena = arena_new();
	while (rc == 0 && n == MATERIALS) {
		arena_reset(own.arena);
		rc = put_some(w, &own, list, &after, &n, e);
	}
	arena_free(own.arena);
	return rc;
}

static int
put_materials(struct writing *w, struct context *c, struct err *e)
{
	const struct scope *s = &w->m->scope;

	w->first = true;
	if (s->complete)
		return put_all(w, c, source_imports_list, e) ||
			       put_all(w, c, source_seals_list, e)
			   ? -1
			   : 0;
	for (size_t i = 0; i < s->n_materials; i++)
		if (put_material(w, c->arena, &s->materials[i], e))
			return -1;
	return 0;
}

static struct str
uid_as_text(struct arena *a, struct uid uid)
{
	char text[UID_TEXT + 1];

	uid_format(uid, text);
	return arena_str(a, str_from(text));
}

static struct json *
scope_part(struct arena *a, const struct scope *s)
{
	struct json *v = json_object(a);

	json_put_str(a, v, "id", uid_as_text(a, s->uid));
	json_put_str(a, v, "type", s->type);
	return v;
}

/* What the Statement is about, by the hash that seals it: an action's
 * envelope, a record's canonical bytes, a workspace's whole log. */
static struct json *
subject_part(struct arena *a, const struct manifest *m)
{
	struct json *list = json_array(a), *v = json_object(a);
	struct json *digest = json_object(a);
	char root[DIGEST_HEX + 1];

	digest_hex(m->covered.root, root);
	json_put_str(a, digest, "sha256",
	    m->scope.digest.hex.p ? m->scope.digest.hex
				  : arena_str(a, str_from(root)));
	json_put(v, "digest", digest);
	json_put_str(a, v, "name",
	    arena_strf(a, "%.*s/%.*s", STR_ARGS(m->scope.type),
		STR_ARGS(uid_as_text(a, m->scope.uid))));
	json_push(list, v);
	return list;
}

static int
put_log(struct writing *w, struct context *c, struct err *e)
{
	struct json *v;

	return log_part(c, w->m, &v, e) ? -1 : put_json(w, c->arena, v, e);
}

static int
put_time(struct writing *w, struct context *c, struct err *e)
{
	char at[INSTANT_TEXT + 1];

	instant_format(w->m->generated_at, at);
	return put(w,
	    arena_strf(c->arena, ",\"generated_at\":\"%s\",\"log\":", at), e);
}

/* The members in the order that RFC 8785 gives them. */
int
manifest_write(struct context *c, const struct manifest *m, struct sink *sink,
    struct err *e)
{
	struct writing w = { .m = m, .sink = sink };
	struct context own = *c;
	int rc = -1;

	own.arena = arena_new();
	if (put(&w,
		STR("{\"_type\":\"" MANIFEST_STATEMENT "\",\"predicate\":{"),
		e) ||
	    put_list(&w, &own, STR("\"events\":["), put_event, e) ||
	    put_list(&w, &own, STR(",\"evidence\":["), put_evidence, e) ||
	    put_time(&w, &own, e) || put_log(&w, &own, e) ||
	    put(&w, STR(",\"materials\":["), e) || put_materials(&w, &own, e) ||
	    put(&w, STR("],\"scope\":"), e) ||
	    put_json(&w, own.arena, scope_part(own.arena, &m->scope), e) ||
	    put(&w,
		STR("},\"predicateType\":\"" MANIFEST_PREDICATE
		    "\",\"subject\":"),
		e) ||
	    put_json(&w, own.arena, subject_part(own.arena, m), e))
		goto out;
	rc = put(&w, STR("}"), e);
out:
	arena_free(own.arena);
	return rc;
}
