/* The Statement's members. The two long arrays are only passed over here: they
 * are walked through side by side once the keys are known. */
#include <stdio.h>
#include <string.h>

#include "ledger/chain/manifest_run.h"

#define LOG_MAX      (1u << 20)
#define ELEMENT_MAX  (64u << 10)
#define MEMBER_MAX   (1u << 20)
#define SUBJECTS_MAX 1024

struct statement {
	struct manifest_run *run;
	struct json_walk *walk;
	struct json *type, *predicate_type, *subject;
	struct json *generated_at, *scope;
	bool predicate, materials, has_events, has_evidence;
};

static int
malformed(struct err *e, const char *why)
{
	return err_set(e, &err_malformed, "%s", why);
}

/* A digest and one more member, a name that is text. */
static bool
is_reference(const struct json *v, const char *name)
{
	const struct json *digest = json_get(v, "digest");
	struct digest d;

	return v->n == 2 && manifest_is_name(json_get_str(v, name)) && digest &&
	       digest->n == 1 &&
	       digest_from_hex(json_get_str(digest, "sha256"), &d);
}

static int
walk_materials(struct statement *s, struct err *e)
{
	struct arena *a = arena_new();
	struct str name;
	struct json *v;
	int more;

	s->materials = true;
	more = json_walk_open(s->walk, JSON_ARRAY, e) ? -1 : 1;
	while (more > 0 && (more = json_walk_next(s->walk, &name, e)) > 0) {
		arena_reset(a);
		if (json_walk_value(s->walk, a, ELEMENT_MAX, &v, e))
			more = -1;
		else if (!is_reference(v, "uri"))
			more = malformed(e, "one of its materials is not an "
					    "object of digest and uri");
		else
			s->run->report->materials++;
	}
	arena_free(a);
	return more;
}

/* Left for later; where its elements begin is remembered. */
static int
pass_array(struct statement *s, uint64_t *from, bool *there, struct err *e)
{
	*there = true;
	return json_walk_skip(s->walk, from, e);
}

static int
keep_member(struct statement *s, size_t max, struct json **out, struct err *e)
{
	return json_walk_value(s->walk, s->run->a, max, out, e);
}

/* In-toto has a reader pass over members that it does not know. */
static int
pass_member(struct statement *s, struct err *e)
{
	struct arena *a = arena_new();
	struct json *v;
	int rc = json_walk_value(s->walk, a, MEMBER_MAX, &v, e);

	arena_free(a);
	return rc;
}

static int
read_predicate_member(struct statement *s, struct str name, struct err *e)
{
	struct json *log;

	if (str_is(name, "events"))
		return pass_array(s, &s->run->events, &s->has_events, e);
	if (str_is(name, "evidence"))
		return pass_array(s, &s->run->evidence, &s->has_evidence, e);
	if (str_is(name, "generated_at"))
		return keep_member(s, ELEMENT_MAX, &s->generated_at, e);
	if (str_is(name, "materials"))
		return walk_materials(s, e);
	if (str_is(name, "scope"))
		return keep_member(s, ELEMENT_MAX, &s->scope, e);
	if (!str_is(name, "log"))
		return pass_member(s, e);
	if (keep_member(s, LOG_MAX, &log, e))
		return -1;
	s->run->log = log;
	return 0;
}

static int
read_predicate(struct statement *s, struct err *e)
{
	struct str name;
	int more;

	s->predicate = true;
	if (json_walk_open(s->walk, JSON_OBJECT, e))
		return -1;
	while ((more = json_walk_next(s->walk, &name, e)) > 0)
		if (read_predicate_member(s, name, e))
			return -1;
	return more;
}

static int
read_member(struct statement *s, struct str name, struct err *e)
{
	if (str_is(name, "_type"))
		return keep_member(s, ELEMENT_MAX, &s->type, e);
	if (str_is(name, "predicate"))
		return read_predicate(s, e);
	if (str_is(name, "predicateType"))
		return keep_member(s, ELEMENT_MAX, &s->predicate_type, e);
	if (str_is(name, "subject"))
		return keep_member(s, MEMBER_MAX, &s->subject, e);
	return pass_member(s, e);
}

static int
walk(struct statement *s, struct err *e)
{
	struct str name;
	int more;

	if (json_walk_open(s->walk, JSON_OBJECT, e))
		return -1;
	while ((more = json_walk_next(s->walk, &name, e)) > 0)
		if (read_member(s, name, e))
			return -1;
	return more ? -1 : json_walk_end(s->walk, e);
}

static bool
is_string(const struct json *v, const char *wanted)
{
	return v && v->type == JSON_STRING && str_is(v->text, wanted);
}

static int
check_types(const struct statement *s, struct err *e)
{
	if (!is_string(s->type, MANIFEST_STATEMENT))
		return malformed(e, "its _type is not " MANIFEST_STATEMENT);
	if (!is_string(s->predicate_type, MANIFEST_PREDICATE))
		return malformed(
		    e, "its predicateType is not " MANIFEST_PREDICATE);
	if (!s->predicate || !s->has_events || !s->has_evidence ||
	    !s->generated_at || !s->run->log || !s->materials || !s->scope)
		return malformed(e, "its predicate lacks one of events, "
				    "evidence, generated_at, log, materials "
				    "and scope");
	return 0;
}

static int
check_scope(const struct statement *s, struct err *e)
{
	struct manifest_report *r = s->run->report;
	struct str type = json_get_str(s->scope, "type"),
		   id = json_get_str(s->scope, "id");
	struct instant at;

	if (!s->scope || s->scope->n != 2 || !manifest_is_name(type) ||
	    !manifest_is_name(id))
		return malformed(
		    e, "its scope is not an object of id and type");
	if (!s->generated_at || s->generated_at->type != JSON_STRING ||
	    !instant_parse(s->generated_at->text, &at))
		return malformed(e, "its generated_at is not a time");
	instant_format(at, r->generated_at);
	snprintf(r->scope_type, sizeof r->scope_type, "%.*s", STR_ARGS(type));
	snprintf(r->scope_id, sizeof r->scope_id, "%.*s", STR_ARGS(id));
	return 0;
}

/* What it is about is what its scope names. */
static int
check_subject(const struct statement *s, struct err *e)
{
	const struct json *list = s->subject;
	const struct manifest_report *r = s->run->report;
	bool found = false;
	char *name =
	    arena_printf(s->run->a, "%s/%s", r->scope_type, r->scope_id);

	if (!list || list->type != JSON_ARRAY || list->n == 0 ||
	    list->n > SUBJECTS_MAX)
		return malformed(e, "its subject is not a list");
	for (const struct json *v = list->first; v; v = v->next) {
		if (!is_reference(v, "name"))
			return malformed(e, "one of its subjects is not an "
					    "object of digest and name");
		found = found || str_is(json_get_str(v, "name"), name);
	}
	if (!found)
		return malformed(e, "its subject is not what its scope names");
	return 0;
}

int
manifest_read_statement(struct manifest_run *run, struct err *e)
{
	struct manifest_part part = { run->statement, 0, run->statement_bytes };
	struct statement s = { .run = run };
	int rc;

	run->check = "format";
	s.walk = json_walk_new(manifest_part_read, &part, 0, true);
	rc = walk(&s, e);
	json_walk_free(s.walk);
	if (rc || check_types(&s, e) || check_scope(&s, e))
		return -1;
	return check_subject(&s, e);
}
