#ifndef DOMAIN_JOBS_EVENTS_H
#define DOMAIN_JOBS_EVENTS_H

#include "ledger/view/project.h"

struct job_queued {
	struct str kind;
	const struct json *input;
};

struct job_claimed {
	struct str kind;
	int64_t attempt;
	struct str worker;
	struct instant lease_until;
};

struct job_completed {
	struct str kind;
	int64_t attempt;
	const struct json *result;
};

/* The attempt failed and another may follow, from the time given. */
struct job_released {
	struct str kind;
	int64_t attempt;
	struct str fault;
	struct instant not_before;
};

/* The last attempt failed. */
struct job_failed {
	struct str kind;
	int64_t attempt;
	struct str fault;
};

/* An operator had it tried anew after its last attempt, or ended it. */
struct job_changed {
	struct str kind;
	int64_t attempt; /* attempts so far */
	struct str reason;
};

extern const struct event_type event_job_queued, event_job_claimed,
    event_job_completed, event_job_released, event_job_failed,
    event_job_retried, event_job_cancelled;

#endif
