/*
 * A record as it was: `as_of=<seq>` on records that keep versions. Every
 * version is an event about the record, so the last of them at or before that
 * place says what the record was then, however much has happened since.
 *
 *	FIELD(model_query, as_of, .place = IN_QUERY, AS_OF_FIELD)
 *
 *	if (in->as_of.set && as_of_find(c, uid, "model.", in->as_of, &v, e))
 *		return -1;
 */
#ifndef DOMAIN_AS_OF_H
#define DOMAIN_AS_OF_H

#include "domain/context.h"
#include "ledger/codec/shape.h"

#define AS_OF_FIELD                              \
	.min = 0, .max = (INT64_C(1) << 53) - 1, \
	.doc = "The record as it was after the event at this place"

/*
 * The newest event about the subject at or before `as_of` whose type begins
 * with `prefix`. Says in the context at which size of the ledger the answer
 * holds, for the reply's Ledger-Size. err_not_found when the record did not
 * exist then, err_invalid (as_of) when the ledger ends before.
 */
int as_of_find(struct context *, struct uid subject, const char *prefix,
    struct opt_int as_of, struct stored_event *, struct err *);

/* What happened by the event's type: "suspended" of application.suspended.
 * Borrowed from the event. */
struct str as_of_participle(const struct stored_event *);

#endif
