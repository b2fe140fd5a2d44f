/*
 * What the worker does with one ledger, in steps that a test can take one at a
 * time. Any number of workers may serve a ledger: a claim is an event, so each
 * attempt has one holder and each job one result.
 */
#ifndef DOMAIN_WORKER_H
#define DOMAIN_WORKER_H

#include "domain/job.h"
#include "domain/service.h"

/* Which kinds of jobs a worker claims, by `remote` and `background`. */
enum worker_part { WORKER_ALL, WORKER_LOCAL, WORKER_REMOTE, WORKER_BACKGROUND };

struct worker {
	struct service *service;
	struct place place;
	struct ledger *ledger;
	struct str name; /* of this process, unique while it lives */
	enum worker_part part;
};

/* A context of the worker's own; db and reading are not set. */
struct context worker_context(
    const struct worker *, const struct caller *, struct arena *);

struct caller worker_caller(const struct worker *);

/* Submits a decision under the worker's name. */
struct worker_decision {
	int (*decide)(struct context *, void *arg, struct err *);
	void *arg;
	struct context c;
};
int worker_submit(const struct worker *, struct arena *,
    struct worker_decision *, struct receipt *, struct err *);

/* Queues what the schedules want now. */
int worker_schedule(const struct worker *, struct arena *, struct err *);

/*
 * Claims one job, runs it, and ends the attempt by event. 1 a job was run (its
 * own failure is recorded, not returned), 0 there was none, -1.
 */
int worker_run_one(const struct worker *, struct arena *, struct err *);

/* The two halves of worker_run_one. A claim: 1 and *job, 0 none, -1. */
struct claim {
	struct job job;
	const struct job_kind *kind;
};
int worker_claim(
    const struct worker *, struct arena *, struct claim *, struct err *);

/* Ends the attempt; does nothing when another worker holds the job by now.
 * fault: why the attempt failed, or NULL. *ended: whether this call ended it.
 */
int worker_settle(const struct worker *, struct arena *, const struct claim *,
    const struct json *result, const struct err *fault, bool *ended,
    struct err *);

/* Sets the gauges of all groups, and the time at which that was done for all
 * ledgers. */
int worker_measure(const struct worker *, struct arena *, struct err *);
void worker_measured(struct service *);
extern const struct metric *const worker_metrics[]; /* NULL-ended */

#endif
