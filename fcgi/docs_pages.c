#include "fcgi/docs_pages.h"

#include "fcgi/reference.h"
#include "ledger/base/embed.h"

EMBED(docs_style_css, "fcgi/style.css");

static struct str
if_none_match(const struct request *r)
{
	return headers_get(&r->headers, "if-none-match");
}

int
docs_index_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	const struct json *document;
	struct buf out;
	struct html h = { &out, front->prefix, a };
	int rc;

	if (front_document(front, &document, e))
		return -1;
	buf_init(&out, HTML_BYTES_MAX);
	reference_index(&h, document);
	rc = html_reply(&h, if_none_match(request), response, e);
	buf_fini(&out);
	return rc;
}

int
docs_product_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	struct str slug = request->params[request->n_params - 1].value;
	const struct json *document;
	struct buf out;
	struct html h = { &out, front->prefix, a };
	int rc;

	if (front_document(front, &document, e))
		return -1;
	buf_init(&out, HTML_BYTES_MAX);
	if (reference_product(&h, document, slug))
		rc = html_reply(&h, if_none_match(request), response, e);
	else
		rc = err_set(e, &err_not_found, "there is no such page");
	buf_fini(&out);
	return rc;
}

int
docs_style_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	(void)front;
	(void)e;
	response->status = 200;
	response->type = "text/css; charset=utf-8";
	response->body = str_from(docs_style_css);
	response->public = true;
	response_set_etag(response, a, if_none_match(request));
	return 0;
}
