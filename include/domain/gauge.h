/*
 * What a group lets operators watch of each ledger. The worker asks about once
 * a minute and keeps the answer among the shared counters, so reading
 * /metrics opens no ledger.
 *
 *	const struct gauge gauge_jobs_open = {
 *		{ "probity_jobs_open", "Jobs that are queued or being done",
 *		    METRIC_GAUGE }, read_jobs_open };
 */
#ifndef DOMAIN_GAUGE_H
#define DOMAIN_GAUGE_H

#include "domain/context.h"
#include "ledger/base/metrics.h"

struct gauge {
	struct metric metric; /* METRIC_GAUGE */
	/* Reads c->db or c->reading. 1 with the value, 0 there is none (the
	 * gauge stays as it was), -1. With metric.micro, in millionths. */
	int (*read)(struct context *, int64_t *value, struct err *);
};

#endif
