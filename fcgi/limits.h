/*
 * Whether a caller may, and has requests left: the last two questions before
 * anything of the request itself is judged.
 */
#ifndef FCGI_LIMITS_H
#define FCGI_LIMITS_H

#include "domain/call.h"
#include "domain/limits.h"
#include "fcgi/front_state.h"

/*
 * call_authorize_found, and then one request of the caller's is counted: as
 * its errors, or err_rate. Either way the reply says what is left, in RateLimit
 * and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers). What is refused
 * is not counted.
 */
int limits_pass(struct front *, const struct caller *, const struct operation *,
    struct arena *, struct response *, struct err *);

/* One request of a party that is not a caller of an operation, counted
 * likewise. */
int limits_count(struct front *, const struct limits_party *, struct arena *,
    struct response *, struct err *);

#endif
