#include "fcgi/request.h"

#include <string.h>
#include <strings.h>

#include "domain/caller.h"
#include "ledger/codec/text.h"

const struct err_kind err_uri_too_long = { "uri-too-long",
	"The request target is too long", 414, false,
	"Send a shorter path "
	"and query." };

static int
read_method(struct request *r, struct err *e)
{
	r->method = transport_param(r->transport->params, "REQUEST_METHOD");
	for (size_t i = 0; i < r->method.n; i++)
		if (r->method.p[i] < 'A' || r->method.p[i] > 'Z')
			return err_set(
			    e, &err_malformed, "the method is not a word");
	if (r->method.n == 0 || r->method.n > 32)
		return err_set(
		    e, &err_malformed, "the method is absent or too long");
	return 0;
}

/* RFC 9112, 3.2.2: a target may name the origin first. Apache alone hands that
 * on. */
static struct str
without_origin(struct str target)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(schemes[i]);
		struct str rest = str_slice(target, n, target.n);
		size_t path = str_find(rest, '/');

		if (target.n > n && strncasecmp(target.p, schemes[i], n) == 0 &&
		    path > 0 && path < str_find(rest, '?'))
			return str_slice(rest, path, rest.n);
	}
	return target;
}

/*
 * REQUEST_URI alone is what the client sent: in PATH_INFO, escapes are decoded
 * and dot segments resolved already.
 */
static int
read_target(struct request *r, struct err *e)
{
	struct str rest;

	r->target = without_origin(
	    transport_param(r->transport->params, "REQUEST_URI"));
	if (!r->target.p)
		return err_set(
		    e, &err_malformed, "the web server passed no REQUEST_URI");
	if (r->target.n > TARGET_BYTES_MAX) {
		r->target = str_slice(r->target, 0, 256);
		return err_set(e, &err_uri_too_long,
		    "path and query may have %d bytes", TARGET_BYTES_MAX);
	}
	rest = r->target;
	r->path = str_take(&rest, '?');
	r->query = rest;
	for (size_t i = 0; i < r->target.n; i++)
		if (r->target.p[i] <= 0x20 || r->target.p[i] == 0x7f ||
		    r->target.p[i] == '#')
			return err_set(e, &err_malformed,
			    "the request target holds characters that "
			    "must be escaped");
	return 0;
}

/* A well-known document's name stands in front of our prefix, not behind it
 * (RFC 8414, 3.1): /.well-known/<name><prefix>/api/v2. */
static struct str
put_prefix_first(struct arena *a, struct str path, struct str prefix)
{
	const struct str well_known = STR("/.well-known/");
	struct str name, rest;

	if (prefix.n == 0 || !str_has_prefix(path, well_known))
		return path;
	rest = str_slice(path, well_known.n, path.n);
	name = str_slice(rest, 0, str_find(rest, '/'));
	rest = str_slice(rest, name.n, rest.n);
	if (!str_has_prefix(rest, prefix) ||
	    (rest.n > prefix.n && rest.p[prefix.n] != '/'))
		return path;
	rest = str_slice(rest, prefix.n, rest.n);
	return arena_strf(a, "%.*s%.*s%.*s%.*s", STR_ARGS(prefix),
	    STR_ARGS(well_known), STR_ARGS(name), STR_ARGS(rest));
}

static int
read_segments(
    struct request *r, struct str prefix, struct arena *a, struct err *e)
{
	struct str rest = put_prefix_first(a, r->path, prefix);

	if (rest.n == 0 || rest.p[0] != '/')
		return err_set(e, &err_malformed, "the path begins with no /");
	if (!str_has_prefix(rest, prefix) ||
	    (rest.n > prefix.n && rest.p[prefix.n] != '/'))
		return err_set(e, &err_not_found, "there is no such path");
	rest = str_slice(rest, prefix.n, rest.n);
	str_take(&rest, '/');
	while (rest.p) {
		struct str raw = str_take(&rest, '/'), *segment;

		if (r->n_segments == ROUTE_SEGMENTS_MAX)
			return err_set(
			    e, &err_not_found, "there is no such path");
		segment = &r->segments[r->n_segments++];
		if (!percent_decode(a, raw, false, segment))
			return err_set(e, &err_malformed,
			    "the path is not percent-encoded UTF-8");
		if (str_is(*segment, ".") || str_is(*segment, ".."))
			return err_set(
			    e, &err_malformed, "the path holds a dot segment");
		if (raw.n == 0 && rest.p)
			return err_set(e, &err_malformed,
			    "the path holds an empty segment");
	}
	return 0;
}

static int
add_query_param(
    struct request *r, struct str pair, struct arena *a, struct err *e)
{
	struct param *p = &r->params[r->n_params];
	struct str value = pair, name = str_take(&value, '=');

	if (r->n_query == QUERY_PARAMS_MAX)
		return err_set(e, &err_malformed,
		    "the query holds more than %d parameters",
		    QUERY_PARAMS_MAX);
	if (!value.p)
		value = STR("");
	if (!percent_decode(a, name, true, &p->name) ||
	    !percent_decode(a, value, true, &p->value))
		return err_set(e, &err_malformed,
		    "the query is not percent-encoded UTF-8");
	for (size_t i = 0; i < r->n_params; i++)
		if (r->params[i].place == IN_QUERY &&
		    str_eq(r->params[i].name, p->name)) {
			err_set(e, &err_malformed,
			    "a parameter of the query is there twice");
			return err_add_field(e, a, "parameter",
			    arena_cstr(a, p->name), "repeated",
			    "may be sent once only");
		}
	p->place = IN_QUERY;
	r->n_params++;
	r->n_query++;
	return 0;
}

int
request_read_query(struct request *r, struct arena *a, struct err *e)
{
	struct str rest = r->query;

	while (rest.p) {
		struct str pair = str_take(&rest, '&');

		if (pair.n > 0 && add_query_param(r, pair, a, e))
			return -1;
	}
	return 0;
}

int
request_read(struct request *r, struct transport *t, struct str prefix,
    struct arena *a, struct err *e)
{
	*r = (struct request){ .id = uid_new(), .transport = t };
	r->params = arena_array(
	    a, QUERY_PARAMS_MAX + ROUTE_PARAMS_MAX, sizeof *r->params);
	if (read_method(r, e) || read_target(r, e) ||
	    headers_read(t->params, a, &r->headers, e) ||
	    read_segments(r, prefix, a, e))
		return -1;
	return 0;
}

void
request_add_params(struct request *r, const struct route_match *match)
{
	for (size_t i = 0; i < match->n_params; i++)
		r->params[r->n_params++] = match->params[i];
}

void
request_serve(struct request *r, const struct caller *caller)
{
	r->served.workspace = caller->place.workspace;
	r->served.environment = caller->place.environment;
	r->served.application = caller->application;
	r->served.credential = caller->credential;
}
