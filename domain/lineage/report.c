/*
 * The report for people. Everything that comes from the manifest is escaped,
 * and the page asks for nothing from elsewhere.
 */
#include "domain/lineage/rendering.h"

#include <inttypes.h>

static void
add_text(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		switch (s.p[i]) {
		case '&':
			buf_add_cstr(b, "&amp;");
			break;
		case '<':
			buf_add_cstr(b, "&lt;");
			break;
		case '>':
			buf_add_cstr(b, "&gt;");
			break;
		case '"':
			buf_add_cstr(b, "&quot;");
			break;
		case '\'':
			buf_add_cstr(b, "&#39;");
			break;
		default:
			buf_add_byte(b, (unsigned char)s.p[i]);
		}
}

static void
add_head(struct buf *b, struct str title)
{
	buf_add_cstr(b,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\""
	    " content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	    "<title>Lineage of ");
	add_text(b, title);
	buf_add_cstr(b,
	    "</title>\n<style>\n"
	    "body{font:16px/1.5 sans-serif;margin:2em auto;max-width:70em;"
	    "padding:0 1em}\n"
	    "table{border-collapse:collapse;width:100%}\n"
	    "th,td{border:1px solid #999;padding:.3em .5em;text-align:left;"
	    "vertical-align:top}\n"
	    "code{font-size:85%;overflow-wrap:anywhere}\n"
	    "</style>\n</head>\n<body>\n<h1>Lineage of ");
	add_text(b, title);
	buf_add_cstr(b, "</h1>\n");
}

static void
add_fact(struct buf *b, const char *name, struct str value)
{
	buf_addf(b, "<tr><th scope=\"row\">%s</th><td><code>", name);
	add_text(b, value);
	buf_add_cstr(b, "</code></td></tr>\n");
}

static void
add_facts(struct arena *a, struct buf *b, const struct json *predicate,
    struct str sha256)
{
	const struct json *log = json_get(predicate, "log");
	const struct json *scope = json_get(predicate, "scope");
	const struct json *complete = json_get(log, "complete");
	int64_t size = 0;

	json_get_int(log, "size", &size);
	buf_add_cstr(b,
	    "<p>This page is made from a lineage manifest and is not signed "
	    "itself. The manifest is; it holds each of these events as the "
	    "ledger signed it, and what proves it.</p>\n<table>\n");
	add_fact(b, "Scope",
	    arena_strf(a, "%.*s %.*s", STR_ARGS(json_get_str(scope, "type")),
		STR_ARGS(json_get_str(scope, "id"))));
	add_fact(b, "Ledger", json_get_str(log, "origin"));
	add_fact(b, "Made at", json_get_str(predicate, "generated_at"));
	add_fact(b, "Events in the ledger", arena_strf(a, "%" PRId64, size));
	add_fact(b, "All of them are here",
	    complete && complete->type == JSON_TRUE ? STR("yes") : STR("no"));
	add_fact(b, "Root of the ledger", json_get_str(log, "root_sha256"));
	add_fact(b, "SHA-256 of the manifest", sha256);
	buf_add_cstr(b, "</table>\n");
}

static void
add_materials(struct buf *b, const struct json *materials)
{
	if (!materials || materials->n == 0)
		return;
	buf_add_cstr(b, "<h2>Made from</h2>\n<table>\n<tr><th>Record</th>"
			"<th>SHA-256</th></tr>\n");
	for (const struct json *at = materials->first; at; at = at->next) {
		buf_add_cstr(b, "<tr><td><code>");
		add_text(b, json_get_str(at, "uri"));
		buf_add_cstr(b, "</code></td><td><code>");
		add_text(b, json_get_str(json_get(at, "digest"), "sha256"));
		buf_add_cstr(b, "</code></td></tr>\n");
	}
	buf_add_cstr(b, "</table>\n");
}

static void
add_datasets(struct buf *b, const char *words, const struct json *list)
{
	for (const struct json *at = list ? list->first : NULL; at;
	     at = at->next) {
		buf_addf(b, "<br>%s <code>", words);
		add_text(b, json_get_str(at, "name"));
		buf_add_cstr(b, "</code>");
	}
}

static int
add_event(struct arena *a, struct buf *b, const struct json *run_event,
    const struct json *evidence, struct err *e)
{
	struct told told;

	if (told_read(a, run_event, evidence, &told, e))
		return -1;
	buf_addf(b, "<tr><td>%" PRId64 "</td><td>", told.seq);
	add_text(b, told.at);
	buf_add_cstr(b, "</td><td><strong>");
	add_text(b, told.type);
	buf_add_cstr(b, "</strong>");
	add_datasets(b, "of", json_get(run_event, "outputs"));
	add_datasets(b, "from", json_get(run_event, "inputs"));
	buf_add_cstr(b, "</td><td>");
	add_text(b, told.actor_kind);
	buf_add_cstr(b, " <code>");
	add_text(b, told.actor_id);
	buf_add_cstr(b, "</code></td><td><code>");
	add_text(b, told.hash);
	buf_add_cstr(b, "</code></td></tr>\n");
	return 0;
}

static int
add_events(
    struct arena *a, struct buf *b, const struct json *predicate, struct err *e)
{
	const struct json *events = json_get(predicate, "events");
	const struct json *evidence = json_get(predicate, "evidence");
	const struct json *line = evidence ? evidence->first : NULL;

	buf_add_cstr(b,
	    "<h2>Events</h2>\n<table>\n<tr><th>Place</th><th>Time</th>"
	    "<th>What happened</th><th>Who caused it</th>"
	    "<th>SHA-256</th></tr>\n");
	for (const struct json *at = events ? events->first : NULL; at && line;
	     at = at->next, line = line->next)
		if (add_event(a, b, at, line, e))
			return -1;
	buf_add_cstr(b, "</table>\n");
	return 0;
}

static void
add_end(struct buf *b)
{
	buf_add_cstr(b,
	    "<h2>How to check it</h2>\n<p>Take the manifest, not this page, "
	    "and the ledger's public key from a place that you trust:</p>\n"
	    "<pre>probity-audit check-manifest export.json --key "
	    "ledger.pub</pre>\n<p>That needs neither this service nor a "
	    "network. docs/auditing.md shows the same by hand.</p>\n"
	    "</body>\n</html>\n");
}

int
report_render(struct arena *a, const struct json *manifest, struct str sha256,
    struct buf *b, struct err *e)
{
	const struct json *predicate = json_get(manifest, "predicate");
	const struct json *subjects = json_get(manifest, "subject");

	add_head(b, json_get_str(subjects ? subjects->first : NULL, "name"));
	add_facts(a, b, predicate, sha256);
	add_materials(b, json_get(predicate, "materials"));
	if (add_events(a, b, predicate, e))
		return -1;
	add_end(b);
	if (buf_failed(b))
		return err_set(e, &err_too_large, "the rendering is too large");
	return 0;
}
