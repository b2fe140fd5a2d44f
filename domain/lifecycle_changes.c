/*
 * The change ledger, from the rows and from the document that is made of them:
 * two readings of one table, held against each other.
 */
#include "domain/lifecycle.h"

struct totals {
	int64_t operations, mappings, mismatches, deprecated;
};

static void
put(struct arena *a, struct json *v, const char *name, const char *text)
{
	json_put(v, name, text ? json_string(a, str_from(text)) : json_null(a));
}

static const struct json *
entry_of(
    const struct json *document, const struct operation *op, struct arena *a)
{
	char *method = arena_cstr(a, str_from(op->method));

	for (char *p = method; *p; p++)
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
	return json_get(
	    json_get(json_get(document, "paths"), op->path), method);
}

/* Whether every way in demands this one scope and no other. */
static bool
is_aligned(const struct json *entry, const char *scope)
{
	const struct json *security = json_get(entry, "security");

	if (!scope || !security || security->type != JSON_ARRAY ||
	    security->n == 0)
		return false;
	for (const struct json *way = security->first; way; way = way->next) {
		const struct json *scopes = way->first;

		if (!scopes || scopes->type != JSON_ARRAY || scopes->n != 1 ||
		    !str_is(scopes->first->text, scope))
			return false;
	}
	return true;
}

static struct json *
row_of(struct arena *a, const struct operation *op, const struct json *entry,
    struct totals *t)
{
	struct json *v = json_object(a);
	bool aligned = is_aligned(entry, op->scope);

	t->mappings++;
	t->mismatches += !aligned;
	t->deprecated += op->deprecated != NULL;
	put(a, v, "product", op->product);
	put(a, v, "operation", arena_printf(a, "%s %s", op->method, op->path));
	put(a, v, "id", op->id);
	put(a, v, "scope", op->scope);
	put(a, v, "alignment", aligned ? "aligned" : "mismatch");
	put(a, v, "stability", lifecycle_stability(op));
	put(a, v, "lifecycle", lifecycle_stage(op));
	put(a, v, "since", op->since);
	put(a, v, "deprecated", op->deprecated);
	put(a, v, "sunset", op->sunset);
	put(a, v, "successor", op->successor);
	put(a, v, "summary",
	    arena_printf(a, "Published in %s: %s", op->since, op->summary));
	return v;
}

static int64_t
count_operations(const struct json *document)
{
	const struct json *paths = json_get(document, "paths");
	int64_t n = 0;

	for (const struct json *path = paths ? paths->first : NULL; path;
	     path = path->next)
		n += (int64_t)path->n;
	return n;
}

static struct json *
totals_of(struct arena *a, const struct totals *t)
{
	struct json *v = json_object(a);

	json_put_int(a, v, "operations", t->operations);
	json_put_int(a, v, "catalog_mappings", t->mappings);
	json_put_int(a, v, "scope_mismatches", t->mismatches);
	json_put_int(a, v, "deprecated", t->deprecated);
	return v;
}

struct json *
lifecycle_changes(struct arena *a, const struct group *const *groups,
    const struct json *document)
{
	struct json *v = json_object(a), *rows = json_array(a);
	struct totals t = { .operations = count_operations(document) };
	struct str version =
	    json_get_str(json_get(document, "info"), "version");

	for (size_t i = 0; groups[i]; i++) {
		const struct operation *const *row = groups[i]->operations;

		for (; row && *row; row++)
			if ((*row)->method)
				json_push(
				    rows, row_of(a, *row,
					      entry_of(document, *row, a), &t));
	}
	json_put_str(a, v, "version", version);
	json_put(v, "totals", totals_of(a, &t));
	json_put(v, "data", rows);
	return v;
}
