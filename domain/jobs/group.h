#ifndef DOMAIN_JOBS_GROUP_H
#define DOMAIN_JOBS_GROUP_H

#include "domain/gauge.h"
#include "domain/operation.h"

extern const struct operation op_job_list, op_job_show, op_job_retry,
    op_job_cancel;
extern const struct gauge gauge_jobs_open, gauge_jobs_waiting;

#endif
