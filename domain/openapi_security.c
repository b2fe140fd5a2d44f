/*
 * How a request authenticates, as the OpenAPI document says it.
 */
#include "domain/catalog.h"
#include "domain/openapi.h"
#include "ledger/base/buf.h"

#include <string.h>

#define SCOPE_WORDS_MAX 8192

static struct json *
text(struct arena *a, const char *s)
{
	return json_string(a, str_from(s));
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

static void
add_summary(const struct operation *op, const char *scope, struct buf *words)
{
	if (!op->method || !op->scope || strcmp(op->scope, scope) != 0)
		return;
	if (words->n > 0)
		buf_add_cstr(words, "; ");
	buf_add_cstr(words, op->summary);
}

/* What a scope is good for: the summaries of the rows that ask for it. */
static struct str
scope_words(struct arena *a, const char *scope)
{
	struct buf words;
	struct str s;

	buf_init(&words, SCOPE_WORDS_MAX);
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *row =
		    catalog_groups[i]->operations;

		for (; row && *row; row++)
			add_summary(*row, scope, &words);
	}
	s = arena_str(a, buf_str(&words));
	buf_fini(&words);
	return s;
}

static struct json *
scopes(struct arena *a)
{
	struct json *v = json_object(a);

	for (const struct scope *s = catalog_scopes; s->name; s++) {
		struct str words = scope_words(a, s->name);

		if (words.n > 0)
			json_put_str(a, v, s->name, words);
	}
	return v;
}

/* RFC 6749, 4.4. */
static struct json *
oauth2(struct arena *a, struct str base_url)
{
	struct json *v = json_object(a), *flows = json_object(a);
	struct json *flow = json_object(a);

	json_put_str(a, flow, "tokenUrl",
	    arena_strf(a, "%.*s/api/v2/oauth/token", STR_ARGS(base_url)));
	json_put(flow, "scopes", scopes(a));
	json_put(flows, "clientCredentials", flow);
	json_put(v, "type", text(a, "oauth2"));
	json_put(v, "description",
	    text(a, "An access token for a client's id and secret, sent as a "
		    "bearer token"));
	json_put(v, "flows", flows);
	return v;
}

struct json *
openapi_security_schemes(struct arena *a, struct str base_url)
{
	struct json *v = json_object(a);

	json_put(v, "bearer", bearer(a));
	json_put(v, "oauth2", oauth2(a, base_url));
	return v;
}

struct json *
openapi_security(struct arena *a, const struct operation *op)
{
	static const char *const schemes[] = { "bearer", "oauth2" };
	struct json *list = json_array(a);

	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		struct json *v = json_object(a), *names = json_array(a);

		json_push(names, text(a, op->scope));
		json_put(v, schemes[i], names);
		json_push(list, v);
	}
	return list;
}
