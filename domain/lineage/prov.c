/*
 * PROV-JSON (W3C member submission of 2013). Names are qualified: "record:" is
 * an entity, "event:" an activity, "agent:" an agent; relations are numbered.
 */
#include "domain/lineage/rendering.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACE "https://probity.dev/prov/"

/* Things by their names, to be put down once each. */
struct named {
	struct str name;
	struct str type;
};

struct names {
	struct named *list;
	size_t n, room;
};

/* The document's parts, each an object by identifier. */
struct document {
	struct arena *a;
	struct names entities, agents;
	struct json *activities;
	struct json *generated, *used, *associated;
	unsigned relations;
};

static void
put_named(struct arena *a, struct json *object, struct str name, struct json *v)
{
	json_put(object, arena_cstr(a, name), v);
}

static struct str
qualified(struct document *d, const char *prefix, struct str name)
{
	return arena_strf(d->a, "%s:%.*s", prefix, STR_ARGS(name));
}

static void
add_name(struct arena *a, struct names *names, struct str name, struct str type)
{
	if (names->n == names->room) {
		size_t room = names->room ? 2 * names->room : 64;
		struct named *list = arena_array(a, room, sizeof *list);

		if (names->n > 0)
			memcpy(list, names->list, names->n * sizeof *list);
		names->list = list;
		names->room = room;
	}
	names->list[names->n++] = (struct named){ name, type };
}

static int
compare(const void *a, const void *b)
{
	return str_cmp(
	    ((const struct named *)a)->name, ((const struct named *)b)->name);
}

static struct json *
typed(struct arena *a, struct str type)
{
	struct json *v = json_object(a), *t = json_object(a);

	json_put_str(a, t, "$", type);
	json_put_str(a, t, "type", STR("xsd:string"));
	json_put(v, "prov:type", t);
	return v;
}

static struct json *
once_each(struct arena *a, struct names *names)
{
	struct json *v = json_object(a);

	if (names->n > 0)
		qsort(names->list, names->n, sizeof *names->list, compare);
	for (size_t i = 0; i < names->n; i++)
		if (i == 0 ||
		    !str_eq(names->list[i].name, names->list[i - 1].name))
			put_named(a, v, names->list[i].name,
			    typed(a, names->list[i].type));
	return v;
}

static void
relate(struct document *d, struct json *relation, const char *from_name,
    struct str from, const char *to_name, struct str to)
{
	struct json *v = json_object(d->a);

	json_put_str(d->a, v, from_name, from);
	json_put_str(d->a, v, to_name, to);
	put_named(d->a, relation, arena_strf(d->a, "_:r%u", ++d->relations), v);
}

/* "source_record/<uid>" as an entity of that kind. */
static struct str
entity(struct document *d, const struct json *dataset)
{
	struct str name = json_get_str(dataset, "name"), rest = name;
	struct str id = qualified(d, "record", name);

	add_name(d->a, &d->entities, id, str_take(&rest, '/'));
	return id;
}

static void
add_activity(struct document *d, const struct told *told, struct str id)
{
	struct json *v = json_object(d->a);

	json_put_str(d->a, v, "prov:startTime", told->at);
	json_put_str(d->a, v, "prov:endTime", told->at);
	json_put_str(d->a, v, "probity:type", told->type);
	json_put_str(d->a, v, "probity:hash", told->hash);
	json_put_str(
	    d->a, v, "probity:seq", arena_strf(d->a, "%" PRId64, told->seq));
	put_named(d->a, d->activities, id, v);
}

static struct str
agent(struct document *d, const struct told *told)
{
	struct str id = arena_strf(d->a, "agent:%.*s/%.*s",
	    STR_ARGS(told->actor_kind), STR_ARGS(told->actor_id));

	add_name(d->a, &d->agents, id, told->actor_kind);
	return id;
}

static int
add_event(struct document *d, const struct json *run_event,
    const struct json *evidence, struct err *e)
{
	const struct json *outputs = json_get(run_event, "outputs");
	const struct json *inputs = json_get(run_event, "inputs");
	struct told told;
	struct str id;

	if (told_read(d->a, run_event, evidence, &told, e))
		return -1;
	id = qualified(d, "event", told.uid);
	add_activity(d, &told, id);
	for (const struct json *at = outputs ? outputs->first : NULL; at;
	     at = at->next)
		relate(d, d->generated, "prov:entity", entity(d, at),
		    "prov:activity", id);
	for (const struct json *at = inputs ? inputs->first : NULL; at;
	     at = at->next)
		relate(d, d->used, "prov:activity", id, "prov:entity",
		    entity(d, at));
	relate(d, d->associated, "prov:activity", id, "prov:agent",
	    agent(d, &told));
	return 0;
}

static struct json *
prefixes(struct arena *a)
{
	static const char *const names[] = { "record", "event", "agent",
		"probity" };
	struct json *v = json_object(a);

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		json_put_str(
		    a, v, names[i], arena_strf(a, NAMESPACE "%s#", names[i]));
	return v;
}

static struct json *
assemble(struct document *d)
{
	struct json *v = json_object(d->a);

	json_put(v, "prefix", prefixes(d->a));
	json_put(v, "entity", once_each(d->a, &d->entities));
	json_put(v, "activity", d->activities);
	json_put(v, "agent", once_each(d->a, &d->agents));
	json_put(v, "wasGeneratedBy", d->generated);
	json_put(v, "used", d->used);
	json_put(v, "wasAssociatedWith", d->associated);
	return v;
}

int
prov_render(
    struct arena *a, const struct json *manifest, struct buf *b, struct err *e)
{
	const struct json *predicate = json_get(manifest, "predicate");
	const struct json *events = json_get(predicate, "events");
	const struct json *evidence = json_get(predicate, "evidence");
	struct document d = {
		.a = a,
		.activities = json_object(a),
		.generated = json_object(a),
		.used = json_object(a),
		.associated = json_object(a),
	};
	const struct json *line = evidence ? evidence->first : NULL;

	for (const struct json *at = events ? events->first : NULL; at && line;
	     at = at->next, line = line->next)
		if (add_event(&d, at, line, e))
			return -1;
	json_write(assemble(&d), b);
	if (buf_failed(b))
		return err_set(e, &err_too_large, "the rendering is too large");
	return 0;
}
