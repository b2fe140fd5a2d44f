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
	json_put(v, "description",
	    text(a, "A refusal (RFC 9457); some kinds have members of their "
		    "own, as control-failed has controls"));
	json_put(v, "properties", properties);
	json_put(v, "required", required);
	json_put(v, "additionalProperties", json_bool(a, true));
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
	json_put(v, "description", text(a, openapi_problem_words));
	json_put(v, "headers", openapi_problem_headers(a));
	json_put(v, "content", content);
	return v;
}

/* clang-format off */
static const struct {
	const char *component, *type, *words;
} header_rows[] = {
	{ "RequestId", "string", "Identifier of the request, also in the events it caused" },
	{ "LedgerSize", "integer", "Events in the ledger at the position of the reply" },
	{ "ETag", "string", "Hash of the representation, quoted" },
	{ "IdempotencyReplayed", "string", "true: the same request was answered before, and this is its reply" },
	{ "Location", "string", "Path of the record that was made" },
	{ "Link", "string", "The next page, rel=\"next\", and where the operation is deprecated what says so (RFC 8288)" },
	{ "RateLimit", "string", "What is left of each limit, and when there is more" },
	{ "RateLimitPolicy", "string", "The limits of the credential and its application" },
	{ "Allow", "string", "With 405: the methods that the path has" },
	{ "Accept", "string", "With 415: the media types that are taken" },
	{ "AcceptEncoding", "string", "With 415: the encodings of a body that are taken" },
	{ "Deprecation", "string", "Since when the operation is deprecated (RFC 9745)" },
	{ "Sunset", "string", "When the operation ends (RFC 8594)" },
	{ "Disposition", "string", "Name of the file, where the reply is one to keep" },
	{ "RetryAfter", "integer", "Seconds after which to try again, or to look whether it is done" },
	{ "Challenge", "string", "How to authenticate (RFC 6750), with 401 and where a scope is missing" },
};
/* clang-format on */

static struct json *
headers(struct arena *a)
{
	struct json *all = json_object(a);

	for (size_t i = 0; i < sizeof header_rows / sizeof header_rows[0];
	     i++) {
		struct json *v = json_object(a), *schema = json_object(a);

		json_put(schema, "type", text(a, header_rows[i].type));
		json_put(v, "description", text(a, header_rows[i].words));
		json_put(v, "schema", schema);
		json_put(all, header_rows[i].component, v);
	}
	return all;
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
with_one(struct arena *a, const char *name, struct json *member)
{
	struct json *v = json_object(a);

	json_put(v, name, member);
	return v;
}

struct json *
openapi_components(struct arena *a, struct str base_url)
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
	json_put(v, "securitySchemes", openapi_security_schemes(a, base_url));
	return v;
}
