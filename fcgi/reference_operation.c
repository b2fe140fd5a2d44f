#include "fcgi/reference.h"

const struct json *
reference_resolve(
    const struct json *document, const struct json *v, struct arena *a)
{
	struct str rest = json_get_str(v, "$ref");

	if (!rest.p)
		return v;
	str_take(&rest, '/');
	for (v = document; rest.p && v;)
		v = json_get(v, arena_cstr(a, str_take(&rest, '/')));
	return v;
}

static void
parameters(const struct html *h, const struct json *document,
    const struct json *operation)
{
	const struct json *list = json_get(operation, "parameters");

	if (!list || !list->first)
		return;
	html_addf(h, "<h3>Parameters</h3>\n<dl>\n");
	for (const struct json *item = list->first; item; item = item->next) {
		const struct json *p =
		    reference_resolve(document, item, h->arena);
		const struct json *required = json_get(p, "required");

		html_addf(h, "<dt><code>");
		html_text(h, json_get_str(p, "name"));
		html_addf(h, "</code> <span class=\"type\">");
		html_text(h, json_get_str(p, "in"));
		html_cstr(h, ", ");
		reference_type(h, json_get(p, "schema"));
		html_addf(h, "</span>%s</dt>\n<dd>",
		    required && required->type == JSON_TRUE
			? " <strong>required</strong>"
			: "");
		html_text(h, json_get_str(p, "description"));
		html_addf(h, "</dd>\n");
	}
	html_addf(h, "</dl>\n");
}

static void
body(const struct html *h, const struct json *operation)
{
	const struct json *v = json_get(operation, "requestBody");
	const struct json *content = json_get(v, "content");

	if (!content || !content->first)
		return;
	html_addf(h, "<h3>Body</h3>\n<p><code>");
	html_text(h, content->first->name);
	html_addf(h, "</code></p>\n");
	reference_fields(h, json_get(content->first, "schema"));
}

static void
header_names(const struct html *h, const struct json *response)
{
	const struct json *headers = json_get(response, "headers");
	const char *between = "<p>Header fields: ";

	for (const struct json *m = headers ? headers->first : NULL; m;
	     m = m->next) {
		html_addf(h, "%s<code>", between);
		html_text(h, m->name);
		html_addf(h, "</code>");
		between = ", ";
	}
	if (headers && headers->first)
		html_addf(h, "</p>\n");
}

static void
success(const struct html *h, const struct json *response)
{
	const struct json *content = json_get(response, "content");

	html_addf(h, "<details>\n<summary>");
	html_text(h, response->name);
	html_addf(h, " · ");
	html_text(h, json_get_str(response, "description"));
	html_addf(h, "</summary>\n");
	header_names(h, response);
	for (const struct json *m = content ? content->first : NULL; m;
	     m = m->next) {
		html_addf(h, "<p><code>");
		html_text(h, m->name);
		html_addf(h, "</code></p>\n");
		reference_fields(h, json_get(m, "schema"));
	}
	html_addf(h, "</details>\n");
}

static void
replies(const struct html *h, const struct json *operation)
{
	const struct json *list = json_get(operation, "responses");
	const char *between = "<p>Refusals: ";

	html_addf(h, "<h3>Replies</h3>\n");
	for (const struct json *r = list->first; r; r = r->next)
		if (str_cmp(r->name, STR("400")) < 0)
			success(h, r);
	for (const struct json *r = list->first; r; r = r->next) {
		if (str_cmp(r->name, STR("400")) < 0)
			continue;
		html_addf(h, "%s<a href=\"", between);
		html_text(h, h->prefix);
		html_addf(h, "/problems/#status-");
		html_text(h, r->name);
		html_addf(h, "\">");
		html_text(h, r->name);
		html_addf(h, "</a>");
		between = ", ";
	}
	html_addf(h, "</p>\n");
}

static void
about(const struct html *h, const struct json *operation)
{
	static const char *const rows[][2] = { { "x-scope", "Scope" },
		{ "x-entitlement", "Entitlement" },
		{ "x-stability", "Stability" }, { "x-lifecycle", "Lifecycle" },
		{ "x-since", "Since" } };

	html_addf(h, "<dl class=\"about\">\n");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct str value = json_get_str(operation, rows[i][0]);

		if (!value.p)
			continue;
		html_addf(h, "<dt>%s</dt><dd><code>", rows[i][1]);
		html_text(h, value);
		html_addf(h, "</code></dd>\n");
	}
	html_addf(h, "</dl>\n");
}

void
reference_operation(const struct html *h, const struct json *document,
    struct str path, const struct json *operation)
{
	struct str id = json_get_str(operation, "operationId");

	html_addf(h, "<section aria-labelledby=\"");
	html_text(h, id);
	html_addf(h, "\">\n<h2 id=\"");
	html_text(h, id);
	html_addf(h, "\">");
	html_text(h, json_get_str(operation, "summary"));
	html_addf(h, "</h2>\n<p class=\"route\"><code><span class=\"method\">");
	html_text(h, operation->name);
	html_addf(h, "</span> ");
	html_text(h, path);
	html_addf(h, "</code></p>\n<p>");
	html_text(h, json_get_str(operation, "description"));
	html_addf(h, "</p>\n");
	about(h, operation);
	parameters(h, document, operation);
	body(h, operation);
	replies(h, operation);
	reference_examples(h, document, path, operation);
	html_addf(h, "</section>\n");
}
