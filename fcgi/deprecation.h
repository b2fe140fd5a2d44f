#ifndef FCGI_DEPRECATION_H
#define FCGI_DEPRECATION_H

#include "domain/operation.h"
#include "fcgi/request.h"
#include "fcgi/response.h"

/*
 * On every reply of a row that is to go: Deprecation (RFC 9745), Sunset (RFC
 * 8594), and links to the page that says so and to what takes its place
 * (RFC 5829). Nothing on any other. base_url leads to the page; prefix is its
 * path, in front of the successor's.
 */
void deprecation_announce(const struct operation *, const struct request *,
    struct str base_url, struct str prefix, struct arena *, struct response *);

#endif
