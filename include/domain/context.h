/*
 * What a function of an operation is handed: who asks, where, and the tables
 * as they stand. One per request; everything in it lives in the request's
 * arena.
 */
#ifndef DOMAIN_CONTEXT_H
#define DOMAIN_CONTEXT_H

#include "domain/caller.h"
#include "ledger/write/ledger.h"

struct content;
struct operation;
struct service;

struct context {
	const struct operation *op;
	struct service *service;
	struct arena *arena;
	const struct place *place;
	const struct caller *caller;
	struct ledger *ledger; /* of the place; NULL for rows that make one */
	struct uid request;

	struct db *db;           /* a read's snapshot, or the open batch */
	struct reading *reading; /* reads, and replies to writes */
	struct tx *tx;           /* decisions only */
	struct instant now;      /* decisions: tx_now; reads: the clock */

	void *prepared; /* by the row's prepare */

	/* A read that answers for an earlier size of the ledger sets it; 0: the
	 * position. */
	uint64_t holds_at;

	/* Made by prepare (domain/content.h), and removed again when nothing
	 * was recorded. None: no key was made. */
	struct uid content_key;

	/* A secret that the reply shows once. Set while deciding; no value when
	 * the reply is a replay. */
	struct str secret;

	/* Set by context_answer_with. */
	bool answered;
	uint64_t answer_seq;

	/* A read that has several renderings of its record: the media types
	 * that the caller takes, as HTTP's Accept has them; no value: any. */
	struct str accept;

	/* What a row's read or reply says beside its record. */
	int status;             /* 0: the row's */
	uint32_t retry_after_s; /* when to ask again; 0: there is no need */
	const struct content *content; /* in place of the record */
};

/* Emits an event about the subject, and projects it at once. */
int context_emit(struct context *, const struct event_type *,
    const char *subject_kind, struct uid subject, const void *data,
    struct err *);

/* As context_emit, with payloads stored by prepare. */
int context_emit_with(struct context *, const struct event_type *,
    const char *subject_kind, struct uid subject, const void *data,
    const struct payload *, size_t n, struct err *);

/* The decision changes nothing, because the event at seq did it before; the
 * reply is rendered from that one. */
void context_answer_with(struct context *, uint64_t seq);

/* An event's data as the struct of its type's shape. */
int context_event_data(struct context *, const struct event *,
    const struct event_type *, void *out, struct err *);

#endif
