#include "domain/catalog.h"
#include "fcgi/changes_page.h"
#include "fcgi/docs_pages.h"
#include "fcgi/ledger_pages.h"
#include "fcgi/oauth.h"
#include "fcgi/watch.h"

/* The document in the front's own arena; the catalog does not change while
 * the process lives. */
static int
make_document(struct front *front, struct err *e)
{
	struct response made = { 0 };
	struct json *v = catalog_openapi(front->arena, front->base_url);

	if (response_set_json(&made, 200, v, front->arena, e))
		return -1;
	front->document = v;
	front->openapi = made.body;
	return 0;
}

int
front_document(struct front *front, const struct json **out, struct err *e)
{
	int rc = 0;

	pthread_mutex_lock(&front->lock);
	if (!front->document)
		rc = make_document(front, e);
	*out = front->document;
	pthread_mutex_unlock(&front->lock);
	return rc;
}

static int
openapi_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	const struct json *document;

	if (front_document(front, &document, e))
		return -1;
	response->status = 200;
	response->type = "application/json";
	response->body = front->openapi;
	response->public = true;
	response_set_etag(
	    response, a, headers_get(&request->headers, "if-none-match"));
	return 0;
}

/* clang-format off */
#define PAGE(verb, at, f) { .method = verb, .path = at, .handle = f }
#define LEDGER "/ledger/{workspace}/{environment}/"
/* Of one ledger, below its place. A tile's number takes a segment for each
 * three digits, and a width one more; so many groups are enough for 256 * 10^9
 * events, and with one more for 256 * 10^12. */
#define LEDGER_PAGES(place) \
	PAGE("GET", place "checkpoint", checkpoint_page), \
	PAGE("GET", place "tile/{level}/{a}", tile_page), \
	PAGE("GET", place "tile/{level}/{a}/{b}", tile_page), \
	PAGE("GET", place "tile/{level}/{a}/{b}/{c}", tile_page), \
	PAGE("GET", place "tile/{level}/{a}/{b}/{c}/{d}", tile_page), \
	PAGE("GET", place "ledger.git/info/refs", git_refs_page), \
	PAGE("POST", place "ledger.git/git-upload-pack", git_upload_pack_page)
/* A well-known document of each resource in well_known.c. */
#define OAUTH_PAGES \
	PAGE("POST", "/api/v2/oauth/token", oauth_token_page), \
	PAGE("POST", "/api/v2/oauth/introspect", oauth_introspect_page), \
	PAGE("POST", "/api/v2/oauth/revoke", oauth_revoke_page), \
	PAGE("GET", "/api/v2/oauth/authorize", oauth_authorize_page), \
	PAGE("POST", "/api/v2/oauth/authorize", oauth_authorize_page), \
	PAGE("GET", OAUTH_SERVER_WELL_KNOWN "/api/v2", oauth_server_page), \
	PAGE("GET", OAUTH_RESOURCE_WELL_KNOWN "/api/v2", oauth_resource_page)

const struct route pages[] = {
	PAGE("GET", "/api/v2/openapi.json", openapi_page),
	PAGE("GET", "/docs", docs_index_page),
	PAGE("GET", "/docs/", docs_index_page),
	PAGE("GET", "/docs/style.css", docs_style_page),
	PAGE("GET", "/docs/{product}", docs_product_page),
	PAGE("GET", "/problems", problem_index_page),
	PAGE("GET", "/problems/", problem_index_page),
	PAGE("GET", "/problems/{slug}", problem_kind_page),
	PAGE("GET", "/healthz", healthz_page),
	PAGE("GET", "/readyz", readyz_page),
	PAGE("GET", "/metrics", metrics_page),
	PAGE("GET", "/docs/changes", changes_page),
	PAGE("GET", "/docs/changes.json", changes_json_page),
	LEDGER_PAGES(LEDGER),
	PAGE("GET", LEDGER "tile/{level}/{a}/{b}/{c}/{d}/{e}", tile_page),
	LEDGER_PAGES(LEDGER "closed/{closed}/"),
	OAUTH_PAGES,
};
/* clang-format on */
const size_t n_pages = sizeof pages / sizeof pages[0];
