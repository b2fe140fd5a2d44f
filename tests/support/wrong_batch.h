/*
 * What somebody with a ledger's key can do to it. Each makes one more batch of
 * a ledger from make_ledger, of events 10 to 12, in which something is wrong
 * but every signature is good, unless it is the signature that is wrong.
 */
#ifndef TESTS_SUPPORT_WRONG_BATCH_H
#define TESTS_SUPPORT_WRONG_BATCH_H

#include "tests/support/small_ledger.h"

typedef void wrong_events(struct event *);
typedef void wrong_rest(struct small_ledger *, struct parts *);

struct wrong {
	const char *name;
	wrong_events *events; /* before sealing, or NULL */
	wrong_rest *rest;     /* after it, or NULL */
	/* What a verifier says of it when the three are events 10 to 12. */
	const char *check;
	uint64_t seq;
	const char *reason;
};
extern const struct wrong wrongs[];
extern const size_t n_wrongs;

void add_wrong(struct small_ledger *, wrong_events *, wrong_rest *);

/* Some by name. */
wrong_rest wrong_event_changed, wrong_signature_forged, wrong_size_trailer,
    wrong_root, wrong_extra_unlisted, wrong_two_parents, wrong_no_parent;

#endif
