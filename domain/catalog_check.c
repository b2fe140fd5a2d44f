/*
 * The faults that a table of rows can have and a compiler cannot see.
 */
#include "domain/catalog_check.h"
#include "domain/lifecycle.h"

#include <string.h>

#include "domain/examples.h"
#include "domain/paging.h"
#include "ledger/base/buf.h"

static void
fault(struct buf *faults, const char *id, const char *what, const char *which)
{
	buf_addf(faults, "%s: %s%s%s\n", id ? id : "(no id)", what,
	    which ? " " : "", which ? which : "");
}

struct check {
	const struct group *const *groups;
	struct buf *faults;
};

typedef void (*visit)(const struct operation *, void *);

static void
each_row(const struct group *const *groups, visit f, void *arg)
{
	for (size_t i = 0; groups[i]; i++) {
		const struct operation *const *row = groups[i]->operations;

		for (; row && *row; row++)
			f(*row, arg);
	}
}

static bool
same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

struct comparison {
	const struct operation *op;
	struct buf *faults;
	bool passed; /* the row itself was met: only later ones are compared */
};

static void
compare(const struct operation *other, void *arg)
{
	struct comparison *c = arg;
	const struct operation *op = c->op;

	if (op == other) {
		if (c->passed)
			fault(c->faults, op->id, "is listed twice", NULL);
		c->passed = true;
		return;
	}
	if (!c->passed)
		return;
	if (same(op->id, other->id))
		fault(c->faults, op->id, "id is there twice", NULL);
	if (same(op->path, other->path) && same(op->method, other->method))
		fault(c->faults, op->id, "shares its route with", other->id);
	if (same(op->command, other->command))
		fault(c->faults, op->id, "shares its command with", other->id);
}

/* Every {name} of the path is a field carried by the path. */
static bool
has_path_field(const struct shape *shape, struct str name)
{
	for (size_t i = 0; i < shape->n; i++)
		if (shape->fields[i].place == IN_PATH &&
		    str_is(name, shape->fields[i].name))
			return true;
	return false;
}

static size_t
check_path_names(const struct operation *op, struct buf *faults)
{
	struct str rest = str_from(op->path), name;
	size_t n = 0;

	while (str_take(&rest, '{').p && rest.p) {
		name = str_take(&rest, '}');
		n++;
		if (!rest.p)
			fault(faults, op->id, "path has an open brace", NULL);
		else if (!has_path_field(op->in, name))
			fault(faults, op->id, "path parameter without field in",
			    op->path);
	}
	return n;
}

static void
check_path(const struct operation *op, struct buf *faults)
{
	size_t names = check_path_names(op, faults), fields = 0;

	for (size_t i = 0; i < op->in->n; i++)
		fields += op->in->fields[i].place == IN_PATH;
	if (fields != names)
		fault(faults, op->id, "fields of the path are not those of",
		    op->path);
	if (op->path[0] != '/')
		fault(faults, op->id, "path does not begin with /", NULL);
}

/* A token that the row's scope is granted for can be one that it lets in. */
static void
check_scope(const struct operation *op, struct buf *faults)
{
	const struct scope *scope = catalog_scope(str_from(op->scope));
	const char *needed = op->entitlement ? op->entitlement : "";

	if (!op->scope)
		fault(faults, op->id, "has a route and no scope", NULL);
	else if (!scope)
		fault(faults, op->id, "scope is not known:", op->scope);
	else if (!catalog_scope_needs(scope, needed))
		fault(
		    faults, op->id, "scope is of another product:", op->scope);
}

static void
check_route(const struct operation *op, struct buf *faults)
{
	static const char *const methods[] = { "GET", "POST", "DELETE", "PUT",
		"PATCH" };
	bool known = false;

	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
		known = known || same(op->method, methods[i]);
	if (!known)
		fault(faults, op->id, "method is not known:", op->method);
	if (!op->path) {
		fault(faults, op->id, "has a method and no path", NULL);
		return;
	}
	check_path(op, faults);
	examples_check(op, faults);
	check_scope(op, faults);
	if (same(op->method, "GET") != (op->effect == EFFECT_READ))
		fault(faults, op->id, "method and effect do not agree", NULL);
}

static bool
is_projected(const struct group *const *groups, const struct event_type *type)
{
	for (size_t i = 0; groups[i]; i++) {
		const struct view *view = groups[i]->view;

		for (size_t k = 0; view && view->types[k]; k++)
			if (view->types[k] == type)
				return type->project != NULL;
	}
	/* The ledger's own types are projected by the ledger. */
	return same(type->name, "clock.confirmed") ||
	       same(type->name, "ledger.indexed");
}

static void
check_effect(const struct check *check, const struct operation *op)
{
	struct buf *faults = check->faults;

	if (op->effect == EFFECT_READ) {
		if (op->emits)
			fault(faults, op->id, "a read declares events", NULL);
		if (!op->read || op->decide || op->reply)
			fault(faults, op->id, "a read needs read alone", NULL);
		if (!paging_is_whole(op))
			fault(faults, op->id,
			    "does not say where the next page begins", NULL);
		if (op->out == &content_shape && !op->media_type)
			fault(faults, op->id, "bytes of no media type", NULL);
		return;
	}
	if (op->media_type)
		fault(faults, op->id, "a write answers JSON alone", NULL);
	if (!op->decide || !op->reply || op->read)
		fault(faults, op->id, "a write needs decide and reply", NULL);
	if (!op->emits || !op->emits[0])
		fault(faults, op->id, "a write declares no events", NULL);
	for (size_t i = 0; op->emits && op->emits[i]; i++)
		if (!is_projected(check->groups, op->emits[i]))
			fault(faults, op->id, "no view projects",
			    op->emits[i]->name);
}

static bool
has_field(const struct shape *shape, struct str name)
{
	for (size_t i = 0; i < shape->n; i++)
		if (str_is(name, shape->fields[i].name))
			return true;
	return false;
}

/* All of the names, with spaces between them. */
static bool
has_fields(const struct shape *shape, struct str names)
{
	while (names.p)
		if (!has_field(shape, str_take(&names, ' ')))
			return false;
	return true;
}

struct search {
	const char *path;
	bool found;
};

static void
look_for_read(const struct operation *op, void *arg)
{
	struct search *s = arg;

	if (same(op->method, "GET") && same(op->path, s->path))
		s->found = true;
}

/* Location is this path with the reply's uid in it. */
static void
check_record(const struct check *check, const struct operation *op)
{
	struct search s = { op->record, false };

	if (!op->record)
		return;
	each_row(check->groups, look_for_read, &s);
	if (!s.found)
		fault(check->faults, op->id,
		    "no row reads its record:", op->record);
	if (!str_has_suffix(str_from(op->record), STR("/{uid}")) ||
	    !has_field(op->out, STR("uid")))
		fault(check->faults, op->id,
		    "its record has no uid:", op->record);
}

/* Rows with a route that need no entitlement: what every credential may ask,
 * so that it can see which ones there are. */
static const char *const without_entitlement[] = { "workspace.show", NULL };

static void
check_entitlement(const struct operation *op, struct buf *faults)
{
	bool exempt = false;

	for (size_t i = 0; without_entitlement[i]; i++)
		exempt = exempt || same(op->id, without_entitlement[i]);
	if (op->entitlement &&
	    !catalog_knows_entitlement(str_from(op->entitlement)))
		fault(faults, op->id,
		    "entitlement is not known:", op->entitlement);
	if (op->method && !op->entitlement && !exempt)
		fault(faults, op->id, "has a route and no entitlement", NULL);
	if (op->entitlement && exempt)
		fault(faults, op->id, "needs no entitlement", NULL);
}

/* The groups of the published index. */
static bool
is_product(const char *name)
{
	static const char *const products[] = { "AI Runtime & Governance",
		"Agents & MCP", "Core Platform", "Developer & Commercial",
		"Financial Actions", "Financial Data & Planning",
		"Knowledge Intelligence", "LQM Builder", "Quant & Models",
		"Workflows" };

	for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
		if (same(name, products[i]))
			return true;
	return false;
}

static void
check_words(const struct operation *op, struct buf *faults)
{
	if (!op->id || !op->summary || !op->product || !op->since)
		fault(faults, op->id, "lacks id, summary, product or since",
		    NULL);
	if (op->product && !is_product(op->product))
		fault(faults, op->id,
		    "product is not of the index:", op->product);
	if (op->status != 200 && op->status != 201 && op->status != 202)
		fault(faults, op->id, "status is not 200, 201 or 202", NULL);
	if (!op->method && !op->command)
		fault(faults, op->id, "has neither route nor command", NULL);
	if (!has_fields(op->in, str_from(op->file_field)))
		fault(
		    faults, op->id, "file field is no field:", op->file_field);
	for (size_t i = 0; i < op->in->n; i++)
		if (!op->in->fields[i].doc)
			fault(faults, op->id,
			    "field without words:", op->in->fields[i].name);
}

static void
check_row(const struct operation *op, void *arg)
{
	const struct check *check = arg;
	struct comparison c = { .op = op, .faults = check->faults };

	if (!op->in || !op->out) {
		fault(check->faults, op->id, "has no shapes", NULL);
		return;
	}
	check_words(op, check->faults);
	check_entitlement(op, check->faults);
	check_effect(check, op);
	check_record(check, op);
	lifecycle_check(op, check->groups, check->faults);
	if (op->method)
		check_route(op, check->faults);
	each_row(check->groups, compare, &c);
}

static size_t
count_types(const struct check *check, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; check->groups[i]; i++) {
		const struct view *view = check->groups[i]->view;

		for (size_t k = 0; view && view->types[k]; k++)
			n += same(view->types[k]->name, name);
	}
	return n;
}

/* An event type belongs to one view. */
static void
check_types(const struct check *check)
{
	for (size_t i = 0; check->groups[i]; i++) {
		const struct view *view = check->groups[i]->view;

		for (size_t k = 0; view && view->types[k]; k++)
			if (count_types(check, view->types[k]->name) != 1)
				fault(check->faults, view->types[k]->name,
				    "event type is there twice", NULL);
	}
}

bool
catalog_check_groups(const struct group *const *groups, struct buf *faults)
{
	struct check check = { groups, faults };
	size_t before = faults->n;

	each_row(groups, check_row, &check);
	check_types(&check);
	return faults->n == before && !buf_failed(faults);
}

bool
catalog_check(struct buf *faults)
{
	return catalog_check_groups(catalog_groups, faults);
}
