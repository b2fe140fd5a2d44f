#include "domain/lineage/run_event.h"

#include "domain/lineage/references.h"

/* Part of every manifest, which may have to be made again by a later program,
 * so neither names this program's version. */
#define PRODUCER   "https://probity.dev/lineage-manifest/v1"
#define SCHEMA     "https://openlineage.io/spec/2-0-2/OpenLineage.json"
#define FACET      "https://probity.dev/facets/1-0-0/EventRunFacet.json"
#define FACET_NAME "probity_event"

static struct str
uid_as_text(struct arena *a, struct uid uid)
{
	char text[UID_TEXT + 1];

	uid_format(uid, text);
	return arena_str(a, str_from(text));
}

static struct json *
dataset(struct arena *a, struct str origin, struct str kind, struct uid uid)
{
	struct json *v = json_object(a);

	json_put_str(a, v, "namespace", origin);
	json_put_str(a, v, "name",
	    arena_strf(
		a, "%.*s/%.*s", STR_ARGS(kind), STR_ARGS(uid_as_text(a, uid))));
	return v;
}

static void
push_datasets(struct arena *a, struct str origin, const struct reference *r,
    struct json *list)
{
	for (; r; r = r->next)
		json_push(list, dataset(a, origin, r->kind, r->uid));
}

static struct json *
run_of(struct arena *a, const struct recorded *recorded)
{
	struct json *v = json_object(a), *facets = json_object(a);
	struct json *facet = json_object(a);
	char hash[DIGEST_HEX + 1];

	digest_hex(recorded->hash, hash);
	json_put_str(a, facet, "_producer", STR(PRODUCER));
	json_put_str(
	    a, facet, "_schemaURL", STR(FACET "#/$defs/EventRunFacet"));
	json_put_str(a, facet, "hash", arena_str(a, str_from(hash)));
	json_put_int(a, facet, "seq", (int64_t)recorded->seq);
	json_put(facets, FACET_NAME, facet);
	json_put_str(a, v, "runId", uid_as_text(a, recorded->event.uid));
	json_put(v, "facets", facets);
	return v;
}

static struct json *
job_of(struct arena *a, const struct event *event)
{
	struct json *v = json_object(a);

	json_put_str(a, v, "namespace", event->ledger);
	json_put_str(a, v, "name", event->type);
	return v;
}

int
run_event_make(struct context *c, const struct stored_event *stored,
    struct json **out, struct err *e)
{
	const struct event *event = &stored->recorded.event;
	struct arena *a = c->arena;
	struct json *v = json_object(a), *inputs = json_array(a);
	struct json *outputs = json_array(a);
	char at[INSTANT_TEXT + 1];
	struct references r = { 0 };

	if (references_find(c, event, stored->revocation != NULL, &r, e))
		return -1;
	instant_format(event->at, at);
	push_datasets(a, event->ledger, r.used, inputs);
	json_push(outputs,
	    dataset(a, event->ledger, event->subject_kind, event->subject));
	push_datasets(a, event->ledger, r.made, outputs);
	json_put_str(a, v, "eventType", STR("COMPLETE"));
	json_put_str(a, v, "eventTime", arena_str(a, str_from(at)));
	json_put(v, "run", run_of(a, &stored->recorded));
	json_put(v, "job", job_of(a, event));
	json_put(v, "inputs", inputs);
	json_put(v, "outputs", outputs);
	json_put_str(a, v, "producer", STR(PRODUCER));
	json_put_str(a, v, "schemaURL", STR(SCHEMA "#/$defs/RunEvent"));
	*out = v;
	return 0;
}
