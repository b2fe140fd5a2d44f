/*
 * Time-stamps of checkpoints (RFC 3161) as other groups see them.
 */
#ifndef DOMAIN_TIMESTAMPS_H
#define DOMAIN_TIMESTAMPS_H

#include "domain/context.h"

struct timestamps_state {
	struct str authority;         /* of the last one; none: never */
	int64_t size;                 /* of the checkpoint it is of */
	struct instant first, latest; /* the authority's times */
};
int timestamps_describe(
    struct context *, struct timestamps_state *, struct err *);

#endif
