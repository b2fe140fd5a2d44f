#include "fcgi/reference.h"

struct str
reference_slug(struct arena *a, struct str product)
{
	char *slug = arena_alloc(a, product.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < product.n; i++) {
		char c = product.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			slug[n++] = c;
		else if (n > 0 && slug[n - 1] != '-')
			slug[n++] = '-';
	}
	while (n > 0 && slug[n - 1] == '-')
		n--;
	return (struct str){ slug, n };
}

static void
add_product_path(const struct html *h, struct str product)
{
	html_text(h, h->prefix);
	html_addf(h, "/docs/");
	html_text(h, reference_slug(h->arena, product));
}

static void
menu(const struct html *h, const void *document)
{
	const struct json *tags = json_get(document, "tags");

	for (const struct json *tag = tags->first; tag; tag = tag->next) {
		struct str name = json_get_str(tag, "name");

		html_addf(h, "<li><a href=\"");
		add_product_path(h, name);
		html_addf(h, "\">");
		html_text(h, name);
		html_addf(h, "</a></li>\n");
	}
}

static bool
is_of(const struct json *operation, struct str product)
{
	const struct json *tags = json_get(operation, "tags");

	return tags && tags->first && str_eq(tags->first->text, product);
}

typedef void (*visit)(const struct html *, const struct json *document,
    struct str path, const struct json *operation);

/* The operations of a product, in the document's order. */
static void
each(const struct html *h, const struct json *document, struct str product,
    visit f)
{
	const struct json *paths = json_get(document, "paths");

	for (const struct json *p = paths->first; p; p = p->next)
		for (const struct json *op = p->first; op; op = op->next)
			if (is_of(op, product))
				f(h, document, p->name, op);
}

static void
row(const struct html *h, const struct json *document, struct str path,
    const struct json *operation)
{
	const struct json *tags = json_get(operation, "tags");

	(void)document;
	html_addf(h, "<li><a href=\"");
	add_product_path(h, tags->first->text);
	html_addf(h, "#");
	html_text(h, json_get_str(operation, "operationId"));
	html_addf(h, "\">");
	html_text(h, json_get_str(operation, "summary"));
	html_addf(h, "</a><br><code><span class=\"method\">");
	html_text(h, operation->name);
	html_addf(h, "</span> ");
	html_text(h, path);
	html_addf(h, "</code></li>\n");
}

/* clang-format off */
static const char guide_of_credentials[] =
	"<h2 id=\"authentication\">Authentication</h2>\n"
	"<p>Each request carries an API key of one workspace and one environment, or an access token, as <code>Authorization: Bearer …</code>. "
	"A credential carries scopes and nothing else: it approves nothing. Without a valid one the reply is 401; without the scope or the entitlement that an operation names, 403.</p>\n";
static const char guide[] =
	"<h2 id=\"writes\">Writes</h2>\n"
	"<p>A request with an <code>Idempotency-Key</code> is done once: sent again it is answered as before, with <code>Idempotency-Replayed: true</code>; another request under the same key is refused. "
	"Every reply to a write carries <code>evidence</code>: the event that it became, its hash and signature, and the signed checkpoint that covers it.</p>\n"
	"<h2 id=\"reads\">Reads</h2>\n"
	"<p><code>Ledger-Size</code> names the position at which a reply holds; <code>ETag</code> and <code>If-None-Match</code> spare what has not changed. "
	"Lists are pages: <code>limit</code> and <code>after_id</code>, the next one in <code>Link</code>. Unknown parameters and members are refused by name. "
	"An application reads the actions that it made itself and no others: those are 404, as are all records of another workspace.</p>\n"
	"<h2 id=\"values\">Values</h2>\n"
	"<p>Times are RFC 3339 in UTC. Money is a decimal string with its currency beside it; a request may send a number, whose digits are taken as written.</p>\n"
	"<h2 id=\"refusals\">Refusals</h2>\n"
	"<p>Every refusal is <code>application/problem+json</code> (RFC 9457). Its <code>type</code> is the address of a page that says what to do.</p>\n";
/* clang-format on */

static void
schemas(const struct html *h, const struct json *document)
{
	const struct json *list =
	    json_get(json_get(document, "components"), "schemas");

	for (const struct json *m = list->first; m; m = m->next) {
		html_addf(h, "<h2 id=\"");
		html_text(h, m->name);
		html_addf(h, "\">");
		html_text(h, m->name);
		html_addf(h, "</h2>\n<p>");
		html_text(h, json_get_str(m, "description"));
		html_addf(h, "</p>\n");
		reference_fields(h, m);
	}
}

void
reference_index(const struct html *h, const struct json *document)
{
	const struct json *info = json_get(document, "info");
	const struct json *tags = json_get(document, "tags");

	html_begin(h, STR("API reference"), menu, document);
	html_addf(h, "<p>");
	html_text(h, json_get_str(info, "summary"));
	html_addf(h, ". Version ");
	html_text(h, json_get_str(info, "version"));
	html_addf(h, ".</p>\n<p>");
	html_text(h, json_get_str(info, "description"));
	html_addf(h, "</p>\n");
	buf_add_cstr(h->out, guide_of_credentials);
	reference_token(h, document);
	buf_add_cstr(h->out, guide);
	for (const struct json *tag = tags->first; tag; tag = tag->next) {
		struct str name = json_get_str(tag, "name");

		html_addf(h, "<h2>");
		html_text(h, name);
		html_addf(h, "</h2>\n<ul class=\"operations\">\n");
		each(h, document, name, row);
		html_addf(h, "</ul>\n");
	}
	schemas(h, document);
	html_end(h);
}

bool
reference_product(
    const struct html *h, const struct json *document, struct str slug)
{
	const struct json *tags = json_get(document, "tags");

	for (const struct json *tag = tags->first; tag; tag = tag->next) {
		struct str name = json_get_str(tag, "name");

		if (!str_eq(reference_slug(h->arena, name), slug))
			continue;
		html_begin(h, name, menu, document);
		html_addf(h, "<ul class=\"operations\">\n");
		each(h, document, name, row);
		html_addf(h, "</ul>\n");
		each(h, document, name, reference_operation);
		html_end(h);
		return true;
	}
	return false;
}
