/*
 * How a list goes on. A reply whose member next_<parameter> is not null has a
 * next page: the same request with that value for the query parameter of that
 * name. The web's side makes a Link of it (RFC 8288, relation "next").
 */
#ifndef PROBITY_DOMAIN_PAGING_H
#define PROBITY_DOMAIN_PAGING_H

#include "domain/operation.h"

/* That member of the reply's shape, NULL where the operation has no pages. */
const struct field *paging_member(const struct operation *op);

/* The query parameter that takes its value. */
const char *paging_parameter(const struct field *member);

/* A reply that says whether there is more also says where it goes on. */
bool paging_is_whole(const struct operation *op);

#endif
