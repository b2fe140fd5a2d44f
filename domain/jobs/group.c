#include "domain/jobs/group.h"

#include "domain/catalog.h"
#include "domain/jobs/events.h"
#include "ledger/base/embed.h"

EMBED(jobs_view_sql, "domain/jobs/view.sql");

static const struct event_type *const types[] = {
	&event_job_queued,
	&event_job_claimed,
	&event_job_completed,
	&event_job_released,
	&event_job_failed,
	&event_job_retried,
	&event_job_cancelled,
	NULL,
};

static const struct operation *const operations[] = {
	&op_job_list,
	&op_job_show,
	&op_job_retry,
	&op_job_cancel,
	NULL,
};

static const struct gauge *const gauges[] = {
	&gauge_jobs_open,
	&gauge_jobs_waiting,
	NULL,
};

static const struct view view = { types, jobs_view_sql };

extern const struct group group_jobs;
const struct group group_jobs = {
	.name = "jobs",
	.title = "Jobs",
	.operations = operations,
	.view = &view,
	.gauges = gauges,
};
