#ifndef DOMAIN_JOBS_KINDS_H
#define DOMAIN_JOBS_KINDS_H

#include "domain/worker.h"

/* The kind with this name in any group; NULL: none. */
const struct job_kind *job_kind_by_name(struct str name);

#endif
