/*
 * One call while it runs: what call.c hands to the write path, to idempotency
 * and to evidence.
 */
#ifndef DOMAIN_RUNNING_H
#define DOMAIN_RUNNING_H

#include "domain/call.h"

struct running {
	const struct call *call;
	struct context c;
	void *in; /* the decoded input */

	struct idempotency idempotency;
	struct receipt receipt;
	/* When nothing new was recorded: the events that answer. */
	bool replayed;
	bool unprepared; /* prepare was left out: there is an answer */
	uint64_t first_seq, last_seq;
};

/* Checks the caller against the tables of this moment; people and programs
 * with access to the ledger's files are always permitted. */
int running_authorize(struct running *, struct db *, struct err *);

/* Fills r->in. */
int running_decode(struct running *, struct err *);

/* Decodes the input and answers, for a row that reads. Who asks was judged. */
int running_read(struct running *, struct reply *, struct err *);

/* In the turn, before the row decides: fills the verdict with the refusal of
 * what the request expects, if any. */
int expectation_judge(
    const struct running *, struct err *verdict, struct err *);

int running_write(struct running *, struct reply *, struct err *);

/* Status and Retry-After, where the row's own function has set them. */
void running_say_beside(const struct running *, struct reply *);

/* The caller as events name who caused them; strings in the arena. */
struct actor running_actor(struct arena *, const struct caller *);

/* Fingerprints of key and request under the ledger's own key; none yet where
 * the row has still to make the ledger. */
int idempotency_fingerprints(struct running *, struct err *);

/* 1 the same request was answered before (sets replayed and the range), 0 the
 * key is new or none was sent, -1 err_idempotency: it named another request. */
int idempotency_find(struct running *, struct db *, struct err *);

/* Puts `evidence` of the last event, and `events` where there are several. */
struct proof {
	const struct recorded *recorded;
	size_t n;
	struct oid commit;
	struct str checkpoint;
};
void evidence_put(struct arena *, struct json *body, const struct proof *);

/* The members of `evidence`, for the published description. */
extern const struct shape evidence_shape;

#endif
