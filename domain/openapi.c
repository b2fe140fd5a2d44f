/*
 * The OpenAPI 3.1 document, from the rows that have a route.
 */
#include "domain/openapi.h"
#include "domain/lifecycle.h"

#include <stddef.h>

#define API_VERSION "2.0.0"

static struct json *
text(struct arena *a, const char *s)
{
	return json_string(a, str_from(s));
}

static struct json *
content(struct arena *a, const char *type, struct json *schema)
{
	struct json *media = json_object(a), *v = json_object(a);

	json_put(media, "schema", schema);
	json_put(v, type, media);
	return v;
}

/* One entry for each member of the schema of path or query. */
static void
push_parameters(struct arena *a, const struct operation *op,
    enum field_place place, struct json *out)
{
	struct json *schema = shape_schema(op->in, place, false, a);
	struct json *properties = json_get(schema, "properties");

	for (size_t i = 0; i < op->in->n; i++) {
		const struct field *f = &op->in->fields[i];
		struct json *v;

		if (f->place != place)
			continue;
		v = json_object(a);
		json_put(v, "name", text(a, f->name));
		json_put(v, "in", text(a, place == IN_PATH ? "path" : "query"));
		json_put(v, "required",
		    json_bool(a, place == IN_PATH || f->required));
		json_put(v, "description", text(a, f->doc));
		json_put(
		    v, "schema", json_copy(a, json_get(properties, f->name)));
		openapi_put_value(a, op, f, v);
		json_push(out, v);
	}
}

static struct json *
parameters(struct arena *a, const struct operation *op)
{
	struct json *v = json_array(a);

	push_parameters(a, op, IN_PATH, v);
	push_parameters(a, op, IN_QUERY, v);
	if (op->effect != EFFECT_READ)
		json_push(v, openapi_reference(
				 a, "#/components/parameters/IdempotencyKey"));
	return v;
}

static bool
has_body(const struct operation *op)
{
	for (size_t i = 0; i < op->in->n; i++)
		if (op->in->fields[i].place == IN_BODY)
			return !op->no_body;
	return false;
}

static struct json *
request_body(struct arena *a, const struct operation *op)
{
	struct json *v = json_object(a);
	struct json *body = content(
	    a, "application/json", shape_schema(op->in, IN_BODY, false, a));

	openapi_put_requests(a, op, body->first);
	json_put(v, "required", json_bool(a, !op->body_optional));
	json_put(v, "content", body);
	return v;
}

/* A record that has a member of this name causes one event alone. */
static void
put_events(struct arena *a, struct json *properties)
{
	struct json *events = json_object(a);

	if (json_get(properties, "events"))
		return;
	json_put(events, "type", text(a, "array"));
	json_put(events, "description",
	    text(a, "Where the request caused several events: each of them"));
	json_put(events, "items",
	    openapi_reference(a, "#/components/schemas/Evidence"));
	json_put(properties, "events", events);
}

/* A reply's schema; writes carry evidence beside the record. */
static struct json *
reply_schema(struct arena *a, const struct operation *op)
{
	struct json *schema = shape_schema(op->out, IN_BODY, true, a);
	struct json *properties = json_get(schema, "properties");
	struct json *required = json_get(schema, "required");

	if (op->effect == EFFECT_READ)
		return schema;
	if (!properties) {
		properties = json_object(a);
		json_put(schema, "properties", properties);
	}
	json_put(properties, "evidence",
	    openapi_reference(a, "#/components/schemas/Evidence"));
	put_events(a, properties);
	if (!required) {
		required = json_array(a);
		json_put(schema, "required", required);
	}
	json_push(required, text(a, "evidence"));
	return schema;
}

/* What the bytes of a file mean, only their own format says. */
static struct json *
reply_content(struct arena *a, const struct operation *op)
{
	struct json *v;

	if (op->out != &content_shape) {
		v = content(a,
		    op->media_type ? op->media_type : "application/json",
		    reply_schema(a, op));
	} else {
		v = json_object(a);
		json_put(v, op->media_type, json_object(a));
	}
	for (size_t i = 0; op->renderings && op->renderings[i]; i++)
		json_put(v, op->renderings[i], json_object(a));
	return v;
}

static struct json *
success(struct arena *a, const struct operation *op, int status)
{
	struct json *v = json_object(a), *body = reply_content(a, op);

	openapi_put_replies(a, op, status, body->first);
	json_put(v, "description", text(a, op->summary));
	json_put(v, "headers", openapi_headers(a, op, status));
	json_put(v, "content", body);
	return v;
}

/* What a row has no example of is described once for all. */
static struct json *
refusal(struct arena *a, const struct operation *op, int status)
{
	struct json *v, *body;

	if (!openapi_has_reply(a, op, status))
		return openapi_reference(a, "#/components/responses/Problem");
	v = json_object(a);
	body = content(a, "application/problem+json",
	    openapi_reference(a, "#/components/schemas/Problem"));
	openapi_put_replies(a, op, status, body->first);
	json_put(v, "description", text(a, openapi_problem_words));
	json_put(v, "headers", openapi_problem_headers(a));
	json_put(v, "content", body);
	return v;
}

/* The statuses a row may answer with: a set, in rising order. */
struct statuses {
	int list[32];
	size_t n;
};

static void
add_status(struct statuses *s, int status)
{
	size_t i = s->n;

	for (size_t k = 0; k < s->n; k++)
		if (s->list[k] == status)
			return;
	if (s->n == sizeof s->list / sizeof s->list[0])
		return;
	for (; i > 0 && s->list[i - 1] > status; i--)
		s->list[i] = s->list[i - 1];
	s->list[i] = status;
	s->n++;
}

static struct statuses
statuses_of(const struct operation *op)
{
	static const int always[] = { 400, 401, 403, 404, 405, 406, 412, 413,
		414, 415, 422, 429, 431, 500, 503 };
	static const int writes[] = { 409, 507 };
	struct statuses s = { .n = 0 };

	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
		add_status(&s, always[i]);
	for (size_t i = 0; i < 2 && op->effect != EFFECT_READ; i++)
		add_status(&s, writes[i]);
	for (size_t i = 0; op->refusals && op->refusals[i]; i++)
		add_status(&s, op->refusals[i]->status);
	return s;
}

static struct json *
not_modified(struct arena *a, const struct operation *op)
{
	struct json *v = json_object(a);

	json_put(v, "description",
	    text(a, "As If-None-Match says: nothing changed"));
	json_put(v, "headers", openapi_headers(a, op, 304));
	return v;
}

static struct json *
responses(struct arena *a, const struct operation *op)
{
	struct statuses s = statuses_of(op);
	struct json *v = json_object(a);

	json_put(
	    v, arena_printf(a, "%d", op->status), success(a, op, op->status));
	if (op->may_wait)
		json_put(v, "202", success(a, op, 202));
	for (size_t i = 0; i < s.n; i++)
		json_put(v, arena_printf(a, "%d", s.list[i]),
		    refusal(a, op, s.list[i]));
	if (op->effect == EFFECT_READ)
		json_put(v, "304", not_modified(a, op));
	return v;
}

static struct json *
operation(struct arena *a, const struct operation *op)
{
	struct json *v = json_object(a), *tags = json_array(a);
	struct json *list = parameters(a, op);

	json_push(tags, text(a, op->product));
	json_put(v, "operationId", text(a, op->id));
	json_put(v, "summary", text(a, op->summary));
	json_put_str(a, v, "description", openapi_description(a, op));
	json_put(v, "tags", tags);
	json_put(v, "security", openapi_security(a, op));
	if (list->n > 0)
		json_put(v, "parameters", list);
	if (has_body(op))
		json_put(v, "requestBody", request_body(a, op));
	json_put(v, "responses", responses(a, op));
	json_put(v, "x-scope", text(a, op->scope));
	if (op->entitlement)
		json_put(v, "x-entitlement", text(a, op->entitlement));
	lifecycle_describe(a, op, v);
	return v;
}

static struct json *
path_of(struct arena *a, struct json *paths, const char *path)
{
	struct json *v = json_get(paths, path);

	if (!v) {
		v = json_object(a);
		json_put(paths, path, v);
	}
	return v;
}

static bool
has_tag(const struct json *tags, const char *name)
{
	for (const struct json *t = tags->first; t; t = t->next)
		if (str_is(json_get_str(t, "name"), name))
			return true;
	return false;
}

static void
add_row(struct arena *a, const struct operation *op, struct json *paths,
    struct json *tags)
{
	char *method = arena_printf(a, "%s", op->method);
	struct json *tag;

	for (char *p = method; *p; p++)
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
	json_put(path_of(a, paths, op->path), method, operation(a, op));
	if (has_tag(tags, op->product))
		return;
	tag = json_object(a);
	json_put(tag, "name", text(a, op->product));
	json_put(tag, "description",
	    json_string(a, arena_strf(a, "Operations of %s", op->product)));
	json_push(tags, tag);
}

static struct json *
info(struct arena *a, struct str base_url)
{
	struct json *v = json_object(a), *license = json_object(a);

	json_put(v, "title", text(a, "Probity"));
	json_put(v, "version", text(a, API_VERSION));
	json_put(v, "summary",
	    text(a, "An append-only ledger service for governed finance"));
	json_put(v, "description",
	    text(a,
		"Every change of state is one hashed, signed event; every "
		"reply to a write carries the evidence for it. A credential "
		"carries scopes and nothing else: it approves nothing."));
	json_put(v, "contact", openapi_contact(a, base_url));
	json_put(license, "name", text(a, "Apache License 2.0"));
	json_put(license, "identifier", text(a, "Apache-2.0"));
	json_put(v, "license", license);
	return v;
}

struct json *
catalog_openapi(struct arena *a, struct str base_url)
{
	struct json *v = json_object(a), *servers = json_array(a);
	struct json *server = json_object(a);
	struct json *paths = json_object(a), *tags = json_array(a);

	json_put_str(a, server, "url", base_url);
	json_push(servers, server);
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *row =
		    catalog_groups[i]->operations;

		for (; row && *row; row++)
			if ((*row)->method)
				add_row(a, *row, paths, tags);
	}
	json_put(v, "openapi", text(a, "3.1.0"));
	json_put(v, "info", info(a, base_url));
	json_put(v, "servers", servers);
	json_put(v, "tags", tags);
	json_put(v, "paths", paths);
	json_put(v, "components", openapi_components(a, base_url));
	return v;
}
