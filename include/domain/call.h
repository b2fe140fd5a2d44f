/*
 * One call of an operation, whichever front it came by: decodes the input by
 * its shape, checks the caller again in its place in the batch, runs the row,
 * and encodes the reply with its evidence.
 */
#ifndef DOMAIN_CALL_H
#define DOMAIN_CALL_H

#include "domain/operation.h"
#include "domain/service.h"

struct reply;

/* What a write expects of the record at its path, judged in its turn. */
struct expectation {
	const struct operation *current; /* reads the record; NULL: none does */
	/* With what current answers just then, or NULL when nothing is there.
	 * A refusal counts if the write itself would have been done. */
	int (*judge)(void *arg, const struct reply *now, struct err *);
	void *arg;
};

struct call {
	const struct operation *op;
	const struct caller *caller;
	struct ledger
	    *ledger; /* of the caller's place; NULL: the row makes it */
	struct input input;
	struct str idempotency_key; /* no value: none was sent */
	struct str target;          /* path and query as sent: part of the
				       request's fingerprint, with the body */
	struct str body;
	struct str accept; /* media types wanted; no value: any */
	const struct expectation *expects; /* writes only; or NULL */
	struct uid request;
	struct str trace; /* its traceparent, well-formed; or no value */
};

struct reply {
	int status;
	struct json *body;
	const struct content *content; /* in place of a body: its row has a
					  media type */
	uint64_t ledger_size;          /* the position it was made at */
	uint32_t retry_after_s;        /* when to ask again; 0: no need */
	bool replayed;
	uint64_t first_seq, last_seq; /* of the events that this call
					 recorded, even if it failed later;
					 0: none */
};

int call_run(struct service *, const struct call *, struct arena *,
    struct reply *, struct err *);

/*
 * Authentication, before anything of the request is judged. bearer is what
 * followed "Bearer " in the Authorization header. Fills the caller and
 * acquires the ledger (release it by service_release). err_unauthorized for
 * everything that is not a key in force; costs the same for an unknown
 * workspace as for a known one.
 */
int call_authenticate(struct service *, struct str bearer, struct arena *,
    struct caller *, struct ledger **, struct err *);

/* Application status and environment, entitlement and scope, from the tables
 * of this moment: err_unauthorized, err_forbidden, err_production_closed. The
 * error names the scope where that alone is lacking. */
int call_authorize(struct db *, const struct caller *, const struct operation *,
    struct instant now, struct arena *, struct err *);

/* call_authorize by a credential that was read a moment ago. */
int call_authorize_found(const struct credential *, const struct caller *,
    const struct operation *, struct err *);

#endif
