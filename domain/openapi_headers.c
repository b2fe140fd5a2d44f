/*
 * The header fields that replies carry beside HTTP's own. The acceptance tests
 * find one that is sent and not declared here.
 */
#include "domain/openapi.h"
#include "domain/paging.h"

const char openapi_problem_words[] =
    "The request was refused; code and detail say why";

struct json *
openapi_reference(struct arena *a, const char *to)
{
	struct json *v = json_object(a);

	json_put_str(a, v, "$ref", str_from(to));
	return v;
}

static void
put(struct arena *a, struct json *headers, const char *name,
    const char *component)
{
	json_put(headers, name,
	    openapi_reference(
		a, arena_printf(a, "#/components/headers/%s", component)));
}

/* Every reply to a credential that is in force says how much is left. */
static struct json *
common(struct arena *a)
{
	struct json *v = json_object(a);

	put(a, v, "X-Request-Id", "RequestId");
	put(a, v, "RateLimit", "RateLimit");
	put(a, v, "RateLimit-Policy", "RateLimitPolicy");
	return v;
}

struct json *
openapi_problem_headers(struct arena *a)
{
	struct json *v = common(a);

	put(a, v, "Retry-After", "RetryAfter");
	put(a, v, "WWW-Authenticate", "Challenge");
	put(a, v, "Allow", "Allow");
	put(a, v, "Accept", "Accept");
	put(a, v, "Accept-Encoding", "AcceptEncoding");
	return v;
}

static void
put_of_read(struct arena *a, const struct operation *op, int status,
    struct json *headers)
{
	put(a, headers, "ETag", "ETag");
	put(a, headers, "Ledger-Size", "LedgerSize");
	if (op->out == &content_shape || op->media_type || op->renderings)
		put(a, headers, "Content-Disposition", "Disposition");
	if (paging_member(op) && !op->deprecated)
		put(a, headers, "Link", "Link");
	if (status != 304)
		put(a, headers, "Retry-After", "RetryAfter");
}

struct json *
openapi_headers(struct arena *a, const struct operation *op, int status)
{
	struct json *v = common(a);

	if (op->deprecated) {
		put(a, v, "Deprecation", "Deprecation");
		put(a, v, "Sunset", "Sunset");
		put(a, v, "Link", "Link");
	}
	if (op->effect == EFFECT_READ) {
		put_of_read(a, op, status, v);
		return v;
	}
	put(a, v, "Idempotency-Replayed", "IdempotencyReplayed");
	if (op->record && (status == 201 || status == 202))
		put(a, v, "Location", "Location");
	if (status == 202)
		put(a, v, "Retry-After", "RetryAfter");
	return v;
}
