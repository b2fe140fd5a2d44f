/*
 * What counting costs a request: one counter and one histogram, by so many
 * threads at once that share the series.
 *
 *	bench_metrics FOLDER [THREADS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger/base/arena.h"
#include "ledger/base/instant.h"
#include "ledger/base/metrics.h"

#define ROUNDS  5000000
#define MOST    64
#define NANO_US 1000

static const struct metric requests = {
	.name = "bench_total", .help = "Requests", .kind = METRIC_COUNTER
};
static const struct metric durations = { .name = "bench_seconds",
	.help = "Time",
	.kind = METRIC_HISTOGRAM,
	.bounds = metric_times_us,
	.n_bounds = METRIC_TIMES,
	.micro = true };

static metric_value *counter, *histogram;

static void *
count(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		metric_add(counter, 1);
		metric_observe(histogram, &durations, i % 20000);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	struct arena *a = arena_new();
	pthread_t threads[MOST];
	struct metrics *m;
	int64_t since;

	if (argc < 2 || n < 1 || n > MOST) {
		fputs("usage: bench_metrics FOLDER [THREADS]\n", stderr);
		return 2;
	}
	m = metrics_new(arena_printf(a, "%s/metrics", argv[1]));
	counter = metrics_series(m, &requests, "");
	histogram = metrics_series(m, &durations, "");
	if (!counter || !histogram)
		return 1;
	since = clock_system.steady(&clock_system).us;
	for (unsigned long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, count, NULL))
			return 1;
	for (unsigned long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("{\"threads\": %lu, \"ns_per_request\": %.1f}\n", n,
	    (double)(clock_system.steady(&clock_system).us - since) * NANO_US /
		ROUNDS);
	metrics_free(m);
	arena_free(a);
	return 0;
}
