/*
 * Every operation with its scope, its stage and since when it is there. Made
 * from the catalog and from the OpenAPI document at each request: it is asked
 * for by people.
 */
#include "fcgi/changes_page.h"

#include <inttypes.h>

#include "domain/lifecycle.h"
#include "fcgi/negotiation.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/hash.h"

#define PAGE_MAX (4u << 20)

static const char style[] =
    "body{font:16px/1.5 sans-serif;margin:2em auto;max-width:90em;"
    "padding:0 1em;color:#111;background:#fff}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{border:1px solid #999;padding:.3em .5em;text-align:left;"
    "vertical-align:top}"
    "code{font-size:90%;overflow-wrap:anywhere}";

/* What the page may load is nothing; its one style is named by its hash. */
static void
add_policy(struct response *response, struct arena *a)
{
	char hash[BASE64_LENGTH(DIGEST_BYTES) + 1];
	struct digest d = sha256(str_from(style));

	base64_encode(d.b, DIGEST_BYTES, hash);
	response_add(response, a, "Content-Security-Policy",
	    "default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; "
	    "form-action 'none'; frame-ancestors 'none'",
	    hash);
	response_add(response, a, "Referrer-Policy", "no-referrer");
}

/* Everything comes from our own tables; escaped all the same. */
static void
add_text(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '&')
			buf_add_cstr(b, "&amp;");
		else if (s.p[i] == '<')
			buf_add_cstr(b, "&lt;");
		else if (s.p[i] == '>')
			buf_add_cstr(b, "&gt;");
		else
			buf_add_byte(b, (unsigned char)s.p[i]);
}

static void
add_cell(struct buf *b, const struct json *row, const char *name, bool code)
{
	buf_add_cstr(b, code ? "<td><code>" : "<td>");
	add_text(b, json_get_str(row, name));
	buf_add_cstr(b, code ? "</code></td>" : "</td>");
}

static void
add_row(struct buf *b, const struct json *row)
{
	buf_add_cstr(b, "<tr>");
	add_cell(b, row, "product", false);
	add_cell(b, row, "operation", true);
	add_cell(b, row, "scope", true);
	add_cell(b, row, "alignment", false);
	add_cell(b, row, "stability", false);
	add_cell(b, row, "lifecycle", false);
	add_cell(b, row, "since", false);
	add_cell(b, row, "sunset", false);
	add_cell(b, row, "summary", false);
	buf_add_cstr(b, "</tr>\n");
}

static int64_t
total(const struct json *changes, const char *name)
{
	int64_t n = 0;

	json_get_int(json_get(changes, "totals"), name, &n);
	return n;
}

static void
add_page(struct buf *b, const struct json *changes)
{
	buf_addf(b,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<title>Change ledger</title>\n<style>%s</style>\n</head>\n"
	    "<body>\n<h1>Change ledger</h1>\n<p>Version ",
	    style);
	add_text(b, json_get_str(changes, "version"));
	buf_addf(b,
	    " of the API: %" PRId64 " operations in the OpenAPI document, "
	    "%" PRId64 " catalog mappings, %" PRId64 " scope mismatches "
	    "between the two, %" PRId64 " deprecated operations. An operation "
	    "goes no sooner than a year after its deprecation was announced, "
	    "here and in the header fields of its replies.</p>\n"
	    "<table>\n<thead><tr><th>Product</th><th>Operation</th>"
	    "<th>Scope</th><th>Alignment</th><th>Stability</th>"
	    "<th>Lifecycle</th><th>Since</th><th>Sunset</th>"
	    "<th>Change</th></tr></thead>\n<tbody>\n",
	    total(changes, "operations"), total(changes, "catalog_mappings"),
	    total(changes, "scope_mismatches"), total(changes, "deprecated"));
	for (const struct json *row = json_get(changes, "data")->first; row;
	     row = row->next)
		add_row(b, row);
	buf_add_cstr(b, "</tbody>\n</table>\n</body>\n</html>\n");
}

static int
set_html(struct response *response, const struct json *changes, struct arena *a,
    struct err *e)
{
	struct buf b;
	int rc = 0;

	buf_init(&b, PAGE_MAX);
	add_page(&b, changes);
	if (buf_failed(&b))
		rc = err_set(
		    e, &err_internal, "the page has over %u bytes", PAGE_MAX);
	else
		response->body = arena_str(a, buf_str(&b));
	buf_fini(&b);
	response->status = 200;
	response->type = "text/html; charset=utf-8";
	add_policy(response, a);
	return rc;
}

static struct json *
changes_of(const struct front *front, struct arena *a)
{
	return lifecycle_changes(
	    a, catalog_groups, catalog_openapi(a, front->base_url));
}

static void
finish(const struct request *r, struct arena *a, struct response *response)
{
	response->public = true;
	response_set_etag(
	    response, a, headers_get(&r->headers, "if-none-match"));
}

int
changes_json_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	if (response_set_json(response, 200, changes_of(front, a), a, e))
		return -1;
	finish(r, a, response);
	return 0;
}

int
changes_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct str wanted = headers_get(&r->headers, "accept");
	int rc;

	response_add(response, a, "Vary", "Accept");
	rc = negotiation_prefers(wanted, "application/json", "text/html")
		 ? response_set_json(response, 200, changes_of(front, a), a, e)
		 : set_html(response, changes_of(front, a), a, e);
	if (rc)
		return -1;
	finish(r, a, response);
	return 0;
}
