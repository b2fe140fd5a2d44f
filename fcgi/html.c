#include "fcgi/html.h"

#include <stdarg.h>
#include <stdio.h>

#include "fcgi/headers.h"

/* A page takes its one style sheet from here and nothing else from anywhere. */
#define POLICY                                                  \
	"default-src 'none'; style-src 'self'; img-src data:; " \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char *
escape_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void
html_text(const struct html *h, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		const char *escape = escape_of(s.p[i]);

		if (escape)
			buf_add_cstr(h->out, escape);
		else
			buf_add_byte(h->out, (unsigned char)s.p[i]);
	}
}

void
html_cstr(const struct html *h, const char *s)
{
	html_text(h, str_from(s));
}

void
html_addf(const struct html *h, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	buf_add_cstr(h->out, text);
}

void
html_json(const struct html *h, const char *label, const struct json *value)
{
	struct buf text;

	buf_init(&text, HTML_BYTES_MAX);
	json_write_pretty(value, &text);
	html_addf(h, "<p class=\"label\">");
	html_cstr(h, label);
	html_addf(h, "</p>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"");
	html_cstr(h, label);
	html_addf(h, "\"><code>");
	html_text(h, buf_str(&text));
	html_addf(h, "</code></pre>\n");
	buf_fini(&text);
}

static void
add_link(const struct html *h, const char *path, const char *words)
{
	html_addf(h, "<li><a href=\"");
	html_text(h, h->prefix);
	html_addf(h, "%s\">%s</a></li>\n", path, words);
}

void
html_begin(const struct html *h, struct str title,
    void (*menu)(const struct html *, const void *), const void *arg)
{
	html_addf(h,
	    "<!doctype html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
	    "content=\"width=device-width, initial-scale=1\">\n<title>");
	html_text(h, title);
	html_addf(h, " · Probity</title>\n<link rel=\"stylesheet\" href=\"");
	html_text(h, h->prefix);
	html_addf(h,
	    "/docs/style.css\">\n<link rel=\"icon\" href=\"data:,\">\n"
	    "</head>\n<body>\n"
	    "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
	    "<header><p>Probity</p></header>\n"
	    "<nav aria-label=\"Pages\">\n<ul>\n");
	add_link(h, "/docs/", "Overview");
	if (menu)
		menu(h, arg);
	add_link(h, "/problems/", "Problems");
	add_link(h, "/docs/changes", "Change ledger");
	add_link(h, "/api/v2/openapi.json", "OpenAPI document");
	html_addf(h, "</ul>\n</nav>\n<main id=\"main\" tabindex=\"-1\">\n<h1>");
	html_text(h, title);
	html_addf(h, "</h1>\n");
}

void
html_end(const struct html *h)
{
	html_addf(h, "</main>\n</body>\n</html>\n");
}

int
html_reply(const struct html *h, struct str if_none_match, struct response *r,
    struct err *e)
{
	if (buf_failed(h->out))
		return err_set(e, &err_internal, "the page is too long");
	r->status = 200;
	r->type = "text/html; charset=utf-8";
	r->body = arena_str(h->arena, buf_str(h->out));
	r->public = true;
	response_add(r, h->arena, "Content-Security-Policy", "%s", POLICY);
	response_add(r, h->arena, "Referrer-Policy", "no-referrer");
	response_set_etag(r, h->arena, if_none_match);
	return 0;
}
