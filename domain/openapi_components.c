#include "domain/openapi.h"

#include "domain/running.h"

static struct json *
text(struct arena *a, const char *s)
{
	return json_string(a, str_from(s));
}

static struct json *
described(
    struct arena *a, const char *type, const char *format, const char *words)
{
	struct json *v = json_object(a);

	json_put(v, "type", text(a, type));
	if (format)
		json_put(v, "format", text(a, format));
	json_put(v, "description", text(a, words));
	return v;
}

/* One bad field: where it is, a code for programs, words for people. */
static struct json *
bad_field(struct arena *a)
{
	struct json *v = json_object(a), *properties = json_object(a);
	struct json *required = json_array(a);

	json_put(properties, "pointer",
	    described(
		a, "string", NULL, "JSON pointer of a member of the body"));
	json_put(properties, "parameter",
	    described(a, "string", NULL, "Name of a path or query parameter"));
	json_put(properties, "header",
	    described(a, "string", NULL, "Name of a header field"));
	json_put(properties, "detail",
	    described(a, "string", NULL, "What is wrong with it"));
	json_put(properties, "code",
	    described(a, "string", NULL, "The same for programs"));
	json_push(required, text(a, "detail"));
	json_push(required, text(a, "code"));
	json_put(v, "type", text(a, "object"));
	json_put(v, "properties", properties);
	json_put(v, "required", required);
	return v;
}

static struct json *
problem_schema(struct arena *a)
{
	static const char *const always[] = { "type", "title", "status",
		"detail", "instance", "code" };
	struct json *v = json_object(a), *properties = json_object(a);
	struct json *required = json_array(a), *errors = json_object(a);

	json_put(properties, "type",
	    described(a, "string", "uri", "Page of this kind of problem"));
	json_put(properties, "title",
	    described(a, "string", NULL, "The kind in words"));
	json_put(properties, "status",
	    described(a, "integer", NULL, "The reply's status"));
	json_put(properties, "detail",
	    described(a, "string", NULL, "What happened here"));
	json_put(properties, "instance",
	    described(a, "string", "uri", "The request, as urn:uuid:"));
	json_put(properties, "code",
	    described(a, "string", NULL, "The kind, for programs"));
	json_put(errors, "type", text(a, "array"));
	json_put(
	    errors, "description", text(a, "The fields that are not valid"));
	json_put(errors, "items", bad_field(a));
	json_put(properties, "errors", errors);
	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
		json_push(required, text(a, always[i]));
	json_put(v, "type", text(a, "object"));
	json_put(v, "description", text(a, "A refusal (RFC 9457)"));
	json_put(v, "properties", properties);
	json_put(v, "required", required);
	return v;
}

static struct json *
problem_response(struct arena *a)
{
	struct json *v = json_object(a), *content = json_object(a);
	struct json *media = json_object(a), *schema = json_object(a);

	json_put(schema, "$ref", text(a, "#/components/schemas/Problem"));
	json_put(media, "schema", schema);
	json_put(content, "application/problem+json", media);
	json_put(v, "description",
	    text(a, "The request was refused; code and detail say why"));
	json_put(v, "content", content);
	return v;
}

static struct json *
header(struct arena *a, const char *type, const char *words)
{
	struct json *v = json_object(a), *schema = json_object(a);

	json_put(schema, "type", text(a, type));
	json_put(v, "description", text(a, words));
	json_put(v, "schema", schema);
	return v;
}

static struct json *
headers(struct arena *a)
{
	struct json *v = json_object(a);

	json_put(v, "RequestId",
	    header(a, "string",
		"Identifier of the request, also in the events it caused"));
	json_put(v, "LedgerSize",
	    header(a, "integer",
		"Events in the ledger at the position of the reply"));
	json_put(v, "ETag",
	    header(a, "string", "Hash of the representation, quoted"));
	json_put(v, "IdempotencyReplayed",
	    header(a, "string",
		"true: the same request was answered before, and this is its "
		"reply"));
	return v;
}

static struct json *
idempotency_key(struct arena *a)
{
	struct json *v = json_object(a), *schema = json_object(a);

	json_put(schema, "type", text(a, "string"));
	json_put_int(a, schema, "minLength", 1);
	json_put_int(a, schema, "maxLength", 255);
	json_put(v, "name", text(a, "Idempotency-Key"));
	json_put(v, "in", text(a, "header"));
	json_put(v, "required", json_bool(a, false));
	json_put(v, "description",
	    text(a, "A name for this request: sent again, it is answered as "
		    "before and done once"));
	json_put(v, "schema", schema);
	return v;
}

static struct json *
bearer(struct arena *a)
{
	struct json *v = json_object(a);

	json_put(v, "type", text(a, "http"));
	json_put(v, "scheme", text(a, "bearer"));
	json_put(v, "bearerFormat", text(a, "pby_test_... or pby_live_..."));
	json_put(v, "description",
	    text(a, "An API key of one workspace and one environment, with the "
		    "scopes named"));
	return v;
}

static struct json *
with_one(struct arena *a, const char *name, struct json *member)
{
	struct json *v = json_object(a);

	json_put(v, name, member);
	return v;
}

struct json *
openapi_components(struct arena *a)
{
	struct json *v = json_object(a), *schemas = json_object(a);

	json_put(schemas, "Problem", problem_schema(a));
	json_put(schemas, "Evidence",
	    shape_schema(&evidence_shape, IN_BODY, true, a));
	json_put(v, "schemas", schemas);
	json_put(v, "responses", with_one(a, "Problem", problem_response(a)));
	json_put(v, "headers", headers(a));
	json_put(
	    v, "parameters", with_one(a, "IdempotencyKey", idempotency_key(a)));
	json_put(v, "securitySchemes", with_one(a, "bearer", bearer(a)));
	return v;
}
