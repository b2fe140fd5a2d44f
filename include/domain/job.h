/*
 * Work that takes long. A job is queued by an event, claimed by an event with
 * a lease, run by the worker outside the turn, and ended by one event; a lost
 * worker's claim expires and another may claim, up to a number of attempts. An
 * operator may end it before, and have a failed one tried anew.
 */
#ifndef DOMAIN_JOB_H
#define DOMAIN_JOB_H

#include "domain/context.h"

struct job {
	struct uid uid;
	struct str kind;
	const struct json *input; /* as queued */
	int64_t attempt;          /* from 1 */
	int64_t earlier; /* attempts before an operator had it tried anew */
};

struct job_kind {
	const char *name; /* "ledger.pack" */
	int64_t lease_s;
	/* Optional: seconds that the lease has by the settings in force, in
	 * place of lease_s. Called while deciding. */
	int64_t (*lease)(const struct context *);
	int64_t attempts;
	/* Does the work, without the turn. The result becomes part of
	 * `job.completed`. An error ends the attempt; the last one ends the job
	 * as `job.failed`. */
	int (*run)(struct context *, const struct job *,
	    const struct json **result, struct err *);
	/* Optional: emits further events in the same decision that ends the
	 * job. */
	int (*settle)(struct context *, const struct job *,
	    const struct json *result, struct err *);
	/* Optional: whether the schedule wants a new one now; asked about once
	 * a minute, never while one of its kind is open. */
	bool (*due)(struct context *);
	/* It runs too long to hold a snapshot open: run's context has neither
	 * db nor reading. */
	bool no_reading;
	/* It waits for other machines: a thread of its own does it, so that
	 * they delay no upkeep. */
	bool remote;
	/* It takes hours because it is meant to: a thread of its own does it,
	 * and it ends early when the service is stopping. */
	bool background;
};

/* Emits job.queued. Call while deciding. */
int job_queue(struct context *, const struct job_kind *,
    const struct json *input, struct uid *uid, struct err *);

/* The latest job of the kind with this input. */
struct job_state {
	struct str status; /* queued, claimed, completed, failed, cancelled */
	struct str fault;  /* why the latest attempt failed, or the job was
			      cancelled; or no value */
};

/* 1 found, 0 none was queued, -1. */
int job_find(struct context *, const struct job_kind *,
    const struct json *input, struct job_state *, struct err *);

/* How many of the kind are queued or being done. */
int job_count_open(
    struct context *, const struct job_kind *, int64_t *n, struct err *);

/* When one of the kind was queued last, whatever came of it; no value when
 * none ever was. */
int job_last_queued(
    struct context *, const struct job_kind *, struct instant *, struct err *);

#endif
