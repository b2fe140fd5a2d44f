/*
 * Which row serves a path: a tree of path segments, built once and then only
 * read, by any thread. A literal segment wins over a parameter.
 */
#ifndef FCGI_ROUTER_H
#define FCGI_ROUTER_H

#include "domain/operation.h"

struct front;
struct request;
struct response;

/* A page that is no operation of the catalog. */
typedef int (*route_handler)(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

struct route {
	const char *method, *path;
	const struct operation *op; /* or */
	route_handler handle;
};

#define ROUTE_SEGMENTS_MAX 16
#define ROUTE_PARAMS_MAX   8

struct route_match {
	const struct route *route; /* NULL: answer OPTIONS by allow */
	bool head;                 /* HEAD, served by the GET row */
	struct param params[ROUTE_PARAMS_MAX];
	size_t n_params;
	char allow[64];
};

struct router;

/* Keeps pointers to the routes. err_internal for a path that is taken twice
 * or is no path. */
int router_new(const struct route *, size_t n, struct router **, struct err *);
void router_free(struct router *);

/* segments: percent-decoded; parameters borrow them. err_not_found;
 * err_method, with match->allow filled in. */
int router_find(const struct router *, struct str method,
    const struct str *segments, size_t n, struct route_match *, struct err *);

#endif
