#ifndef DOMAIN_JOBS_KINDS_H
#define DOMAIN_JOBS_KINDS_H

#include "domain/worker.h"

/* The kind with this name in any group; NULL: none. */
const struct job_kind *job_kind_by_name(struct str name);

/* A context of the worker's own; db and reading are not set. */
struct context worker_context(
    const struct worker *, const struct caller *, struct arena *);

struct caller worker_caller(const struct worker *);

/* Submits a decision under the worker's name. */
struct decision {
	int (*decide)(struct context *, void *arg, struct err *);
	void *arg;
	struct context c;
};
int worker_submit(const struct worker *, struct arena *, struct decision *,
    struct receipt *, struct err *);

#endif
