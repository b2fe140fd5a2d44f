#include "domain/catalog.h"
#include "fcgi/ledger_pages.h"
#include "fcgi/problem.h"
#include "fcgi/watch.h"

/* The document in the front's own arena; the catalog does not change while
 * the process lives. */
static int
make_openapi(struct front *front, struct err *e)
{
	struct response made = { 0 };
	struct json *v = catalog_openapi(front->arena, front->base_url);

	if (response_set_json(&made, 200, v, front->arena, e))
		return -1;
	front->openapi = made.body;
	return 0;
}

static int
openapi_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	int rc = 0;

	pthread_mutex_lock(&front->lock);
	if (!front->openapi.p)
		rc = make_openapi(front, e);
	pthread_mutex_unlock(&front->lock);
	if (rc)
		return -1;
	response->status = 200;
	response->type = "application/json";
	response->body = front->openapi;
	response->public = true;
	response_set_etag(
	    response, a, headers_get(&request->headers, "if-none-match"));
	return 0;
}

static int
problem_kind_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	struct str slug = STR_NONE;
	const struct err_kind *kind;

	(void)front;
	for (size_t i = 0; i < request->n_params; i++)
		if (request->params[i].place == IN_PATH)
			slug = request->params[i].value;
	kind = problem_kind_find(a, slug);
	if (!kind)
		return err_set(e, &err_not_found, "there is no such problem");
	response->status = 200;
	response->type = "text/plain; charset=utf-8";
	response->body = problem_page(a, kind);
	response->public = true;
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

const struct route pages[] = {
	PAGE("GET", "/api/v2/openapi.json", openapi_page),
	PAGE("GET", "/problems/{slug}", problem_kind_page),
	PAGE("GET", "/healthz", healthz_page),
	PAGE("GET", "/readyz", readyz_page),
	PAGE("GET", "/metrics", metrics_page),
	LEDGER_PAGES(LEDGER),
	PAGE("GET", LEDGER "tile/{level}/{a}/{b}/{c}/{d}/{e}", tile_page),
	LEDGER_PAGES(LEDGER "closed/{closed}/"),
};
/* clang-format on */
const size_t n_pages = sizeof pages / sizeof pages[0];
