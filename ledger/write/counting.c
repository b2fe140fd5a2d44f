#include "ledger/base/metrics.h"
#include "ledger/write/writer.h"

static const uint64_t sizes[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };

static const struct metric batch_events = {
	.name = "probity_batch_events",
	.help = "Events in a batch, which is one commit and one sync",
	.kind = METRIC_HISTOGRAM,
	.bounds = sizes,
	.n_bounds = sizeof sizes / sizeof sizes[0],
};

static const struct metric journal_seconds = {
	.name = "probity_journal_sync_seconds",
	.help = "Time to write a batch to its journal and sync it",
	.kind = METRIC_HISTOGRAM,
	.bounds = metric_times_us,
	.n_bounds = METRIC_TIMES,
	.micro = true,
};

const struct metric *const ledger_metrics[] = { &batch_events, &journal_seconds,
	NULL };

void
counting_batch(struct ledger *l, size_t n, int64_t us)
{
	metric_observe(
	    metrics_series(l->metrics, &batch_events, ""), &batch_events, n);
	metric_observe(metrics_series(l->metrics, &journal_seconds, ""),
	    &journal_seconds, us > 0 ? (uint64_t)us : 0);
}
