#include "domain/catalog.h"
#include "fcgi/ledger_pages.h"
#include "fcgi/problem.h"

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

#define LEDGER "/ledger/{workspace}/{environment}/"
#define TILE   LEDGER "tile/{level}/"

const struct route pages[] = {
	{ .method = "GET",
	    .path = "/api/v2/openapi.json",
	    .handle = openapi_page },
	{ .method = "GET",
	    .path = "/problems/{slug}",
	    .handle = problem_kind_page },
	{ .method = "GET",
	    .path = LEDGER "checkpoint",
	    .handle = checkpoint_page },
	/* A tile's number takes a segment for each three digits, and a width
	 * one more; so many groups are enough for 256 * 10^12 events. */
	{ .method = "GET", .path = TILE "{a}", .handle = tile_page },
	{ .method = "GET", .path = TILE "{a}/{b}", .handle = tile_page },
	{ .method = "GET", .path = TILE "{a}/{b}/{c}", .handle = tile_page },
	{ .method = "GET",
	    .path = TILE "{a}/{b}/{c}/{d}",
	    .handle = tile_page },
	{ .method = "GET",
	    .path = TILE "{a}/{b}/{c}/{d}/{e}",
	    .handle = tile_page },
	{ .method = "GET",
	    .path = LEDGER "ledger.git/info/refs",
	    .handle = git_refs_page },
	{ .method = "POST",
	    .path = LEDGER "ledger.git/git-upload-pack",
	    .handle = git_upload_pack_page },
};
const size_t n_pages = sizeof pages / sizeof pages[0];
