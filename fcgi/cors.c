#include "fcgi/cors.h"

#define MAX_AGE_S "600"

/* What a client of the API sends that Fetch does not permit by itself. */
#define HEADERS_SENT                                               \
	"Accept, Authorization, Content-Type, Content-Digest, "    \
	"Idempotency-Key, If-Match, If-None-Match, Signature, "    \
	"Signature-Input, traceparent, tracestate, X-Request-Id, " \
	"A2A-Version, MCP-Protocol-Version, Mcp-Method, Mcp-Name"

#define HEADERS_SHOWN                                                          \
	"Accept, Accept-Encoding, Allow, Content-Disposition, Deprecation, "   \
	"ETag, Idempotency-Replayed, Ledger-Size, Link, Location, RateLimit, " \
	"RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id"

struct str_list
cors_origins_copy(struct arena *a, struct str_list from)
{
	struct str *items = arena_array(a, from.n, sizeof *items);

	for (size_t i = 0; i < from.n; i++)
		items[i] = arena_str(a, from.items[i]);
	return (struct str_list){ items, from.n };
}

static bool
is_listed(struct str_list origins, struct str origin)
{
	for (size_t i = 0; i < origins.n; i++)
		if (str_eq(origins.items[i], origin))
			return true;
	return false;
}

static bool
is_preflight(const struct request *r)
{
	return str_is(r->method, "OPTIONS") &&
	       headers_get(&r->headers, "access-control-request-method").p;
}

void
cors_answer(const struct front *front, const struct request *r,
    const char *allow, struct arena *a, struct response *response)
{
	struct str origin = headers_get(&r->headers, "origin");

	if (front->cors_origins.n == 0)
		return;
	/* Also to those who are not listed: a cache must not hand them what
	 * another got. */
	response_add(response, a, "Vary", "Origin");
	if (!origin.p || !is_listed(front->cors_origins, origin))
		return;
	response_add(response, a, "Access-Control-Allow-Origin", "%.*s",
	    STR_ARGS(origin));
	if (!is_preflight(r)) {
		response_add(response, a, "Access-Control-Expose-Headers", "%s",
		    HEADERS_SHOWN);
		return;
	}
	response_add(response, a, "Access-Control-Allow-Methods", "%s", allow);
	response_add(
	    response, a, "Access-Control-Allow-Headers", "%s", HEADERS_SENT);
	response_add(response, a, "Access-Control-Max-Age", MAX_AGE_S);
}
