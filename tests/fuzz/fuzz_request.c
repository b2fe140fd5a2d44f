/*
 * CGI parameters and a body, hostile, through everything that stands before
 * the domain. The input: parameters, each ended by a zero byte, an empty one,
 * the body. What is accepted must keep what the headers promise.
 */
#include <stdlib.h>
#include <string.h>

#include "fcgi/request.h"
#include "ledger/codec/json.h"
#include "tests/support/canned_transport.h"

#define PARAMS_MAX 256
#define BODY_MAX   4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct route routes[] = {
	{ .method = "GET", .path = "/a" },
	{ .method = "POST", .path = "/a/{x}" },
	{ .method = "GET", .path = "/a/{x}/b" },
	{ .method = "GET", .path = "/a/c/{y}" },
	{ .method = "DELETE", .path = "/a/{x}/{y}/{z}" },
};

static struct router *
router_once(void)
{
	static struct router *router;

	if (!router &&
	    router_new(routes, sizeof routes / sizeof routes[0], &router, NULL))
		abort();
	return router;
}

/* Splits the bytes, which end in a zero byte, and returns the body. */
static struct str
split(struct str bytes, const char **params)
{
	size_t n = 0;

	while (bytes.n > 0 && bytes.p[0] != '\0' && n < PARAMS_MAX - 1) {
		params[n++] = bytes.p;
		bytes = str_slice(bytes, str_find(bytes, '\0') + 1, bytes.n);
	}
	params[n] = NULL;
	return bytes.n > 1 ? str_slice(bytes, 1, bytes.n - 1) : STR("");
}

static void
demand(bool holds)
{
	if (!holds)
		abort();
}

static void
check_route(struct request *r)
{
	struct route_match match;
	struct err e = { 0 };

	if (router_find(router_once(), r->method, r->segments, r->n_segments,
		&match, &e)) {
		demand(e.kind == &err_not_found || e.kind == &err_method);
		return;
	}
	for (size_t i = 0; i < match.n_params; i++)
		demand(match.params[i].value.n > 0 &&
		       str_is_utf8(match.params[i].value));
	request_add_params(r, &match);
	demand(r->n_params <= QUERY_PARAMS_MAX + ROUTE_PARAMS_MAX);
}

static void
check_headers(const struct request *r, struct arena *a)
{
	struct err e = { 0 };
	struct str s;

	if (header_bearer(&r->headers, &s, &e) == 0)
		demand(s.n > 0 && str_find(s, ' ') == s.n &&
		       str_find(s, ',') == s.n);
	if (header_idempotency_key(&r->headers, a, &s, &e) == 0 && s.p)
		demand(s.n > 0 && s.n < 256);
	s = headers_get(&r->headers, "if-none-match");
	if (s.p)
		header_etag_matches(s, STR("\"x\""));
}

static void
check_body(struct request *r, struct arena *a)
{
	struct err e = { 0 };
	struct json *v;

	if (request_read_body(r, BODY_MAX, a, &e) == 0) {
		demand(r->body.n <= BODY_MAX);
		if (request_parse_body(r, BODY_MAX, a, &v, &e) == 0)
			demand(v->type == JSON_OBJECT);
	}
	request_drain(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	char *copy = arena_alloc(a, size + 1);
	const char *params[PARAMS_MAX];
	struct canned canned;
	struct request r;
	struct str body;
	struct err e = { 0 };

	if (size > 0)
		memcpy(copy, data, size);
	body = split((struct str){ copy, size + 1 }, params);
	canned_init(&canned, params, body);
	canned.piece = 5;
	if (request_read(&r, &canned.transport, STR(""), a, &e)) {
		demand(e.kind && e.kind->status >= 400);
	} else {
		for (size_t i = 0; i < r.n_segments; i++)
			demand(!str_is(r.segments[i], "..") &&
			       !memchr(r.segments[i].p, '\0', r.segments[i].n));
		demand(request_read_query(&r, a, &e) == 0 ||
		       e.kind == &err_malformed);
		check_route(&r);
		check_headers(&r, a);
		check_body(&r, a);
	}
	canned_fini(&canned);
	arena_free(a);
	return 0;
}
