/*
 * A request, read from a transport and checked as HTTP; nothing here knows
 * what is asked. Everything lives in the request's arena.
 */
#ifndef FCGI_REQUEST_H
#define FCGI_REQUEST_H

#include "fcgi/headers.h"
#include "fcgi/router.h"
#include "fcgi/transport.h"
#include "ledger/base/uid.h"

#define TARGET_BYTES_MAX 8192
#define QUERY_PARAMS_MAX 64

/* For the access log: whom the request was served for, and the events that it
 * recorded; strings in the request's arena. */
struct served {
	struct str workspace, environment, credential;
	struct uid application;
	uint64_t first_seq, last_seq; /* 0: none */
};

struct request {
	struct uid id;
	struct str method;
	struct str target; /* path and query exactly as sent */
	struct str path;   /* exactly as sent */
	struct str query;  /* exactly as sent; no value: no "?" */
	struct str segments[ROUTE_SEGMENTS_MAX]; /* decoded */
	size_t n_segments;
	struct headers headers;
	struct param *params; /* of the path once routed, of the query once read
			       */
	size_t n_params, n_query;
	struct str body;
	bool gone; /* the client gave up: there is nobody to answer */
	bool body_read;
	struct transport *transport;
	struct served served;
};

extern const struct err_kind err_uri_too_long;

/*
 * Request line and header fields. prefix: path of the public URL, in front of
 * every route. err_malformed, err_uri_too_long, err_headers_too_large,
 * err_not_found. request->id, method and target are set even on failure, if
 * only to be logged.
 */
int request_read(struct request *, struct transport *, struct str prefix,
    struct arena *, struct err *);

/* Adds the query's parameters, once. err_malformed: which an operation tells
 * nobody who may not use it. */
int request_read_query(struct request *, struct arena *, struct err *);

/* Adds the path's parameters. */
void request_add_params(struct request *, const struct route_match *);

/* Keeps whom it is served for. */
struct caller;
void request_serve(struct request *, const struct caller *);

/*
 * The body to its end. err_too_large beyond max, err_malformed when it is not
 * as long as Content-Length says.
 */
int request_read_body(
    struct request *, size_t max, struct arena *, struct err *);

/* Reads and drops what is left of a body, within bounds, so that the web
 * server can take the reply. */
void request_drain(struct request *);

/* The body as a JSON object. err_media_type, err_malformed. */
int request_parse_body(const struct request *, size_t max, struct arena *,
    struct json **, struct err *);

#endif
