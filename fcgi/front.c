#include "fcgi/front.h"

#include <stdlib.h>
#include <string.h>

#include "domain/catalog.h"
#include "fcgi/cors.h"
#include "fcgi/front_state.h"
#include "fcgi/problem.h"
#include "fcgi/watch.h"

#define HEAD_BYTES_MAX 65536
#define END_SOON_US    5000000

static size_t
count_operations(void)
{
	size_t n = 0;

	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *op =
		    catalog_groups[i]->operations;

		for (; op && *op; op++)
			n += (*op)->method != NULL;
	}
	return n;
}

static int
make_router(struct front *front, struct err *e)
{
	struct route *routes = arena_array(
	    front->arena, count_operations() + n_pages, sizeof *routes);
	size_t n = 0;

	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *op =
		    catalog_groups[i]->operations;

		for (; op && *op; op++)
			if ((*op)->method)
				routes[n++] = (struct route){
					.method = (*op)->method,
					.path = (*op)->path,
					.op = *op,
				};
	}
	for (size_t i = 0; i < n_pages; i++)
		routes[n++] = pages[i];
	front->routes = routes;
	front->n_routes = n;
	return router_new(routes, n, &front->router, e);
}

/* "https://example.com/ledger" has "/ledger". */
static struct str
path_of_url(struct str url)
{
	struct str rest = url;

	for (int slashes = 0; slashes < 3; slashes++)
		str_take(&rest, '/');
	if (!rest.p)
		return STR("");
	return str_slice(url, (size_t)(rest.p - url.p) - 1, url.n);
}

int
front_new(const struct config *config, struct front **out, struct err *e)
{
	struct arena *a = arena_new();
	struct front *front = ARENA_NEW(a, struct front);

	front->arena = a;
	front->base_url = arena_str(a, config->base_url);
	front->prefix = path_of_url(front->base_url);
	front->max_body = (size_t)config->max_body;
	front->cors_origins = cors_origins_copy(a, config->cors_origins);
	pthread_mutex_init(&front->lock, NULL);
	pthread_mutex_init(&front->readiness_lock, NULL);
	if (make_router(front, e) || service_new(config, &front->service, e) ||
	    front_watch(front, config, e)) {
		front_free(front);
		return -1;
	}
	*out = front;
	return 0;
}

void
front_free(struct front *front)
{
	if (!front)
		return;
	front_unwatch(front);
	service_free(front->service);
	router_free(front->router);
	pthread_mutex_destroy(&front->lock);
	pthread_mutex_destroy(&front->readiness_lock);
	arena_free(front->arena);
}

void
front_end_soon(struct front *front)
{
	atomic_store(&front->latest_us,
	    clock_system.steady(&clock_system).us + END_SOON_US);
}

void
front_worker_init(struct front_worker *w)
{
	w->arena = arena_new();
	buf_init(&w->out, HEAD_BYTES_MAX);
}

void
front_worker_fini(struct front_worker *w)
{
	arena_free(w->arena);
	buf_fini(&w->out);
}

static int
dispatch(struct front *front, struct request *r, struct route_match *match,
    struct arena *a, struct response *response, struct err *e)
{
	if (router_find(front->router, r->method, r->segments, r->n_segments,
		match, e)) {
		if (e->kind == &err_method)
			response_add(response, a, "Allow", "%s", match->allow);
		return -1;
	}
	if (!match->route) {
		response_add(response, a, "Allow", "%s", match->allow);
		response->status = 204;
		return 0;
	}
	if (match->route->op) {
		request_add_params(r, match);
		return operation_serve(front, r, match, a, response, e);
	}
	if (request_read_query(r, a, e))
		return -1;
	request_add_params(r, match);
	return match->route->handle(front, r, a, response, e);
}

bool
front_serve(struct front *front, struct front_worker *w, struct transport *t)
{
	struct arena *a = w->arena;
	struct response response = { 0 };
	struct route_match match = { 0 };
	struct request request;
	struct watched watched;
	struct err e = { 0 };
	char id[UID_TEXT + 1];
	bool sent;

	watched_begin(&watched, t);
	if (request_read(&request, &watched.transport, front->prefix, a, &e) ||
	    dispatch(front, &request, &match, a, &response, &e))
		problem_reply(&e, front->base_url, request.id, a, &response);
	request_drain(&request);
	uid_format(request.id, id);
	response_add(&response, a, "X-Request-Id", "%s", id);
	cors_answer(front, &request, match.allow, a, &response);
	sent = !request.gone &&
	       response_send(&response, &watched.transport,
		   match.head || str_is(request.method, "HEAD"), &w->out);
	response_close(&response);
	watched_end(
	    &watched, front, w, &request, match.route, response.status, &e);
	arena_reset(a);
	return sent && request.body_read;
}
