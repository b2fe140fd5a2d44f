#include "domain/catalog.h"
#include "domain/jobs/kinds.h"
#include "domain/worker.h"

static const struct metric measured_at = {
	.name = "probity_worker_measured_timestamp_seconds",
	.help = "When a worker last went through all ledgers",
	.kind = METRIC_GAUGE,
	.micro = true,
};

const struct metric *const worker_metrics[] = { &measured_at, NULL };

/* Names of workspaces and environments hold nothing that a label escapes. */
static const char *
labels_of(struct arena *a, const struct place *place)
{
	return arena_printf(a, "workspace=\"%.*s\",environment=\"%.*s\"",
	    STR_ARGS(place->workspace), STR_ARGS(place->environment));
}

static int
measure(const struct gauge *gauge, struct context *c, const char *labels,
    struct err *e)
{
	int64_t value = 0;
	int found = gauge->read(c, &value, e);

	if (found == 1)
		metric_set(metrics_series(service_metrics(c->service),
			       &gauge->metric, labels),
		    value);
	return found < 0 ? -1 : 0;
}

static int
measure_groups(struct context *c, const char *labels, struct err *e)
{
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct gauge *const *gauge = catalog_groups[i]->gauges;

		for (; gauge && *gauge; gauge++)
			if (measure(*gauge, c, labels, e))
				return -1;
	}
	return 0;
}

int
worker_measure(const struct worker *w, struct arena *a, struct err *e)
{
	struct caller caller = worker_caller(w);
	struct context c = worker_context(w, &caller, a);
	struct reading reading;
	int rc;

	if (ledger_read_begin(w->ledger, &reading, e))
		return -1;
	c.reading = &reading;
	c.db = reading.db;
	rc = measure_groups(&c, labels_of(a, &w->place), e);
	ledger_read_end(&reading);
	return rc;
}

void
worker_measured(struct service *s)
{
	metric_set(metrics_series(service_metrics(s), &measured_at, ""),
	    service_now(s).us);
}
