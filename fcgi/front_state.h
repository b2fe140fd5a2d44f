/*
 * What the files of the front share. Made once, then only read, but for what
 * stands under the lock.
 */
#ifndef FCGI_FRONT_STATE_H
#define FCGI_FRONT_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "fcgi/front.h"
#include "fcgi/request.h"
#include "fcgi/response.h"
#include "fcgi/router.h"

struct access_log;
struct counts;
struct readiness;

struct front {
	struct service *service;
	struct router *router;
	struct route *routes;
	size_t n_routes;
	struct arena *arena;
	struct str base_url;
	struct str prefix;            /* path of the public URL; mostly empty */
	atomic_size_t max_body;       /* as configured last */
	struct str_list cors_origins; /* empty: CORS is off */
	atomic_llong latest_us; /* when clones must have ended; 0: no time */
	pthread_mutex_t lock;
	int64_t started_us; /* by the steady clock */
	struct access_log *access_log;
	struct counts *counts;
	pthread_mutex_t readiness_lock;
	struct readiness *readiness; /* as found last */
	/* Under the lock: made at first use, and then only read. */
	const struct json *document;
	struct str openapi;
};

/* Routes beside the catalog's rows. */
extern const struct route pages[];
extern const size_t n_pages;

/* One operation of the catalog, from credential to reply. On failure the
 * response may hold header fields that belong to the error. */
int operation_serve(struct front *, struct request *,
    const struct route_match *, struct arena *, struct response *,
    struct err *);

#endif
