#include "fcgi/watch.h"

#include <stdio.h>

#define OTHER 0 /* the column of statuses that are not listed */

static const int statuses[] = { OTHER, 200, 201, 202, 204, 206, 304, 400, 401,
	403, 404, 405, 406, 409, 410, 412, 413, 414, 415, 422, 428, 429, 431,
	500, 503, 507 };
#define N_STATUSES (sizeof statuses / sizeof statuses[0])

static const struct metric requests = {
	.name = "probity_requests_total",
	.help = "Requests by operation, or page, and status",
	.kind = METRIC_COUNTER,
};

static const struct metric durations = {
	.name = "probity_request_duration_seconds",
	.help = "Time from a request's arrival to the end of its reply",
	.kind = METRIC_HISTOGRAM,
	.bounds = metric_times_us,
	.n_bounds = METRIC_TIMES,
	.micro = true,
};

const struct metric *const request_metrics[] = { &requests, &durations, NULL };

/* Series are looked for once, then found here. */
typedef _Atomic(metric_value *) found_series;

struct row {
	found_series duration;
	found_series by_status[N_STATUSES];
};

struct counts {
	struct metrics *metrics;
	const struct route *routes;
	struct row *rows; /* one for each route, and one for none */
	size_t n;
};

struct counts *
counts_new(struct arena *a, struct metrics *m, const struct route *routes,
    size_t n_routes)
{
	struct counts *c = ARENA_NEW(a, struct counts);

	c->metrics = m;
	c->routes = routes;
	c->n = n_routes;
	c->rows = arena_array(a, n_routes + 1, sizeof *c->rows);
	return c;
}

static size_t
column_of(int status)
{
	size_t i = N_STATUSES - 1;

	while (i > OTHER && statuses[i] != status)
		i--;
	return i;
}

static const char *
name_of(const struct route *route)
{
	if (!route)
		return "none";
	return route->op ? route->op->id : route->path;
}

static metric_value *
series(found_series *slot, struct counts *c, const struct metric *metric,
    const char *labels)
{
	metric_value *v = metrics_series(c->metrics, metric, labels);

	atomic_store_explicit(slot, v, memory_order_release);
	return v;
}

static metric_value *
request_series(
    struct counts *c, found_series *slot, const struct route *route, int status)
{
	metric_value *v = atomic_load_explicit(slot, memory_order_acquire);
	char labels[METRIC_KEY_MAX];

	if (v)
		return v;
	if (status)
		snprintf(labels, sizeof labels,
		    "operation=\"%s\",status=\"%d\"", name_of(route), status);
	else
		snprintf(labels, sizeof labels,
		    "operation=\"%s\",status=\"other\"", name_of(route));
	return series(slot, c, &requests, labels);
}

static metric_value *
duration_series(struct counts *c, found_series *slot, const struct route *route)
{
	metric_value *v = atomic_load_explicit(slot, memory_order_acquire);
	char labels[METRIC_KEY_MAX];

	if (v)
		return v;
	snprintf(labels, sizeof labels, "operation=\"%s\"", name_of(route));
	return series(slot, c, &durations, labels);
}

void
counts_request(
    struct counts *c, const struct route *route, int status, int64_t us)
{
	struct row *row = &c->rows[route ? (size_t)(route - c->routes) : c->n];
	size_t column = column_of(status);

	metric_add(
	    request_series(c, &row->by_status[column], route, statuses[column]),
	    1);
	metric_observe(duration_series(c, &row->duration, route), &durations,
	    us > 0 ? (uint64_t)us : 0);
}
