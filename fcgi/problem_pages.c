#include "fcgi/docs_pages.h"

#include "fcgi/html.h"
#include "fcgi/negotiation.h"
#include "fcgi/problem.h"

static int
reply_text(struct str text, struct request *request, struct arena *a,
    struct response *response)
{
	response->status = 200;
	response->type = "text/plain; charset=utf-8";
	response->body = text;
	response->public = true;
	response_set_etag(
	    response, a, headers_get(&request->headers, "if-none-match"));
	return 0;
}

/* The same address has two representations. */
static bool
wants_html(
    const struct request *request, struct arena *a, struct response *response)
{
	response_add(response, a, "Vary", "Accept");
	return negotiation_prefers(headers_get(&request->headers, "accept"),
	    "text/html", "text/plain");
}

static void
add_kind(const struct html *h, const struct front *front,
    const struct err_kind *kind)
{
	struct err e = { 0 };
	struct uid request;
	const struct json *example;

	err_set(&e, kind, "What happened in this request, in words.");
	uid_parse(STR("01900000-0000-7000-8000-000000000000"), &request);
	example = problem_json(&e, front->base_url, request, h->arena);
	html_addf(h, "<dl class=\"about\">\n<dt>Status</dt><dd>%d</dd>\n",
	    kind->status);
	html_addf(
	    h, "<dt>Name</dt><dd><code>%s</code></dd>\n</dl>\n", kind->slug);
	html_addf(h, "<h2>What it means</h2>\n<p>");
	html_cstr(h, kind->title);
	html_addf(h,
	    ". The reply's <code>detail</code> says what it was in this "
	    "request, and <code>errors</code>, where it is there, which "
	    "fields.</p>\n<h2>What to do</h2>\n<p>");
	html_cstr(h, kind->remedy);
	html_addf(h, " %s</p>\n<h2>Example</h2>\n",
	    kind->retryable
		? "The same request may succeed later."
		: "The same request will not succeed as it stands.");
	html_json(h, "Reply", example);
}

static int
reply_kind(struct front *front, const struct err_kind *kind,
    struct request *request, struct arena *a, struct response *response,
    struct err *e)
{
	struct buf out;
	struct html h = { &out, front->prefix, a };
	int rc;

	buf_init(&out, HTML_BYTES_MAX);
	html_begin(&h, str_from(kind->title), NULL, NULL);
	add_kind(&h, front, kind);
	html_end(&h);
	rc = html_reply(
	    &h, headers_get(&request->headers, "if-none-match"), response, e);
	buf_fini(&out);
	return rc;
}

int
problem_kind_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	struct str slug = request->params[request->n_params - 1].value;
	const struct err_kind *kind = problem_kind_find(a, slug);

	if (!kind)
		return err_set(e, &err_not_found, "there is no such problem");
	if (wants_html(request, a, response))
		return reply_kind(front, kind, request, a, response, e);
	return reply_text(problem_page(a, kind), request, a, response);
}

/* Each status, and below it the kinds that have it. */
static void
add_status(
    const struct html *h, const struct err_kind **kinds, size_t n, int status)
{
	html_addf(h, "<h2 id=\"status-%d\">%d</h2>\n<dl>\n", status, status);
	for (size_t i = 0; i < n; i++) {
		if (kinds[i]->status != status)
			continue;
		html_addf(h, "<dt><a href=\"");
		html_text(h, h->prefix);
		html_addf(h, "/problems/%s\">%s</a></dt>\n<dd>", kinds[i]->slug,
		    kinds[i]->slug);
		html_cstr(h, kinds[i]->title);
		html_addf(h, ". ");
		html_cstr(h, kinds[i]->remedy);
		html_addf(h, "</dd>\n");
	}
	html_addf(h, "</dl>\n");
}

static void
add_index(const struct html *h, const struct err_kind **kinds, size_t n)
{
	html_begin(h, STR("Problems"), NULL, NULL);
	html_addf(h,
	    "<p>Every refusal is <code>application/problem+json</code> (RFC "
	    "9457). Its <code>type</code> is the address of one of these "
	    "pages, its <code>code</code> the name with underscores. Names "
	    "never change.</p>\n");
	for (int status = 400; status < 600; status++)
		for (size_t i = 0; i < n; i++)
			if (kinds[i]->status == status) {
				add_status(h, kinds, n, status);
				break;
			}
	html_end(h);
}

static struct str
index_text(struct arena *a, const struct err_kind **kinds, size_t n)
{
	struct buf out;
	struct str s;

	buf_init(&out, HTML_BYTES_MAX);
	for (size_t i = 0; i < n; i++)
		buf_addf(&out, "%s  %d  %s\n", kinds[i]->slug, kinds[i]->status,
		    kinds[i]->title);
	s = arena_str(a, buf_str(&out));
	buf_fini(&out);
	return s;
}

int
problem_index_page(struct front *front, struct request *request,
    struct arena *a, struct response *response, struct err *e)
{
	size_t n;
	const struct err_kind **kinds = problem_kinds(a, &n);
	struct buf out;
	struct html h = { &out, front->prefix, a };
	int rc;

	if (!wants_html(request, a, response))
		return reply_text(
		    index_text(a, kinds, n), request, a, response);
	buf_init(&out, HTML_BYTES_MAX);
	add_index(&h, kinds, n);
	rc = html_reply(
	    &h, headers_get(&request->headers, "if-none-match"), response, e);
	buf_fini(&out);
	return rc;
}
