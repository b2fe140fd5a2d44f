/*
 * Every operation with its scope, its stage and since when it is there: the
 * change ledger, as a page and as JSON.
 */
#include "fcgi/changes_page.h"

#include <inttypes.h>

#include "domain/lifecycle.h"
#include "fcgi/docs_pages.h"
#include "fcgi/html.h"
#include "fcgi/negotiation.h"

static void
add_cell(
    const struct html *h, const struct json *row, const char *name, bool code)
{
	html_addf(h, code ? "<td><code>" : "<td>");
	html_text(h, json_get_str(row, name));
	html_addf(h, code ? "</code></td>" : "</td>");
}

static void
add_row(const struct html *h, const struct json *row)
{
	html_addf(h, "<tr>");
	add_cell(h, row, "product", false);
	add_cell(h, row, "operation", true);
	add_cell(h, row, "scope", true);
	add_cell(h, row, "alignment", false);
	add_cell(h, row, "stability", false);
	add_cell(h, row, "lifecycle", false);
	add_cell(h, row, "since", false);
	add_cell(h, row, "sunset", false);
	add_cell(h, row, "summary", false);
	html_addf(h, "</tr>\n");
}

static int64_t
total(const struct json *changes, const char *name)
{
	int64_t n = 0;

	json_get_int(json_get(changes, "totals"), name, &n);
	return n;
}

static void
add_page(const struct html *h, const struct json *changes)
{
	html_begin(h, STR("Change ledger"), NULL, NULL);
	html_addf(h, "<p>Version ");
	html_text(h, json_get_str(changes, "version"));
	html_addf(h,
	    " of the API: %" PRId64 " operations in the OpenAPI document, "
	    "%" PRId64 " catalog mappings, %" PRId64 " scope mismatches "
	    "between the two, %" PRId64 " deprecated operations. An operation "
	    "goes no sooner than a year after its deprecation was announced, "
	    "here and in the header fields of its replies.</p>\n",
	    total(changes, "operations"), total(changes, "catalog_mappings"),
	    total(changes, "scope_mismatches"), total(changes, "deprecated"));
	html_addf(h,
	    "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
	    "aria-label=\"Operations\">\n<table>\n<thead><tr><th>Product</th>"
	    "<th>Operation</th><th>Scope</th><th>Alignment</th>"
	    "<th>Stability</th><th>Lifecycle</th><th>Since</th><th>Sunset</th>"
	    "<th>Change</th></tr></thead>\n<tbody>\n");
	for (const struct json *row = json_get(changes, "data")->first; row;
	     row = row->next)
		add_row(h, row);
	html_addf(h, "</tbody>\n</table>\n</div>\n");
	html_end(h);
}

static struct str
if_none_match(const struct request *r)
{
	return headers_get(&r->headers, "if-none-match");
}

static int
changes_of(
    struct front *front, struct arena *a, struct json **out, struct err *e)
{
	const struct json *document;

	if (front_document(front, &document, e))
		return -1;
	*out = lifecycle_changes(a, catalog_groups, document);
	return 0;
}

int
changes_json_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct json *changes;

	if (changes_of(front, a, &changes, e) ||
	    response_set_json(response, 200, changes, a, e))
		return -1;
	response->public = true;
	response_set_etag(response, a, if_none_match(r));
	return 0;
}

int
changes_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct buf out;
	struct html h = { &out, front->prefix, a };
	struct json *changes;
	int rc;

	response_add(response, a, "Vary", "Accept");
	if (negotiation_prefers(headers_get(&r->headers, "accept"),
		"application/json", "text/html"))
		return changes_json_page(front, r, a, response, e);
	if (changes_of(front, a, &changes, e))
		return -1;
	buf_init(&out, HTML_BYTES_MAX);
	add_page(&h, changes);
	rc = html_reply(&h, if_none_match(r), response, e);
	buf_fini(&out);
	return rc;
}
