/*
 * Preconditions of a request: If-Match and If-None-Match (RFC 9110, 13). No
 * dates are kept here, so If-Modified-Since and the like are passed over, as
 * that section has it; so is Range.
 */
#ifndef FCGI_CONDITIONS_H
#define FCGI_CONDITIONS_H

#include "domain/call.h"
#include "fcgi/front_state.h"

extern const struct err_kind err_precondition;

/*
 * Whether the conditions hold; etag has no value where nothing is at the path.
 * If-Match compares strongly, so a weak tag never matches. err_precondition.
 */
int conditions_match(const struct headers *, struct str etag, struct err *);

/*
 * ETag of a read's reply, and what the conditions make of it: 304, or
 * err_precondition; the reply's source is closed then.
 */
int conditions_answer(const struct headers *, struct str etag, struct arena *,
    struct response *, struct err *);

/* Has the conditions of a write judged in its turn: by what a GET of the same
 * path would answer just then. Leaves a call without conditions as it is. */
void conditions_expect(const struct front *, const struct request *,
    struct arena *, struct call *);

#endif
