#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/arena.h"
#include "ledger/base/io.h"
#include "ledger/base/metrics.h"

#define THREADS   4
#define PROCESSES 3
#define ROUNDS    2000

static char folder[] = "/tmp/probity-metrics-XXXXXX";
static char path[64];
static const uint64_t bounds[] = { 10, 20 };
static const struct metric visits = {
	.name = "visits_total", .help = "Visits", .kind = METRIC_COUNTER
};
static const struct metric sizes = { .name = "sizes",
	.help = "Sizes",
	.kind = METRIC_HISTOGRAM,
	.bounds = bounds,
	.n_bounds = 2 };

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	return io_remove_tree(folder);
}

static struct metrics *
open_metrics(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return metrics_new(path);
}

static uint64_t
count_of(struct metrics *m, const struct metric *metric, const char *labels)
{
	return atomic_load(metrics_series(m, metric, labels));
}

static void
test_counts(void **state)
{
	struct metrics *m = open_metrics("counts");
	metric_value *v = metrics_series(m, &visits, "door=\"n\"");

	(void)state;
	metric_add(v, 2);
	metric_add(v, 3);
	assert_ptr_equal(metrics_series(m, &visits, "door=\"n\""), v);
	assert_int_equal(count_of(m, &visits, "door=\"s\""), 0);
	metrics_free(m);
	m = open_metrics("counts");
	assert_int_equal(count_of(m, &visits, "door=\"n\""), 5);
	metrics_free(m);
}

static void
test_histogram(void **state)
{
	static const uint64_t seen[] = { 0, 10, 11, 20, 21, 1000 };
	struct metrics *m = open_metrics("histogram");
	metric_value *v = metrics_series(m, &sizes, "");

	(void)state;
	for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++)
		metric_observe(v, &sizes, seen[i]);
	assert_int_equal(metric_values(&sizes), 4);
	assert_int_equal(v[0], 2);
	assert_int_equal(v[1], 2);
	assert_int_equal(v[2], 2);
	assert_int_equal(v[3], 1062);
	metrics_free(m);
}

/* All make the same series, and some of their own. */
static void *
count(void *arg)
{
	struct metrics *m = arg;

	for (int i = 0; i < ROUNDS; i++) {
		char labels[32];

		snprintf(labels, sizeof labels, "n=\"%d\"", i % 50);
		metric_add(metrics_series(m, &visits, labels), 1);
		metric_observe(metrics_series(m, &sizes, labels), &sizes, 15);
	}
	return NULL;
}

static void
count_by_threads(void)
{
	struct metrics *m = open_metrics("crowd");
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, count, m))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	metrics_free(m);
}

static void
test_exact_over_threads_and_processes(void **state)
{
	struct metrics *m;
	struct arena *a = arena_new();
	struct metric_reading *all;
	pid_t children[PROCESSES];
	uint64_t sum = 0;
	size_t n;

	(void)state;
	for (int i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			count_by_threads();
			_exit(0);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	m = open_metrics("crowd");
	assert_true(metrics_read(m, a, &all, &n));
	assert_int_equal(n, 100);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			assert_false(str_eq(all[i].name, all[i - 1].name) &&
				     str_eq(all[i].labels, all[i - 1].labels));
		sum += all[i].values[str_is(all[i].name, "sizes")];
	}
	assert_int_equal(sum, 2 * PROCESSES * THREADS * ROUNDS);
	metrics_free(m);
	arena_free(a);
}

/* Nobody is stopped by it. */
static void
test_no_place(void **state)
{
	struct metrics *m = metrics_new("/nowhere/metrics");
	struct arena *a = arena_new();
	struct metric_reading *all;
	size_t n;

	(void)state;
	assert_null(metrics_series(m, &visits, ""));
	assert_null(metrics_series(NULL, &visits, ""));
	metric_add(NULL, 1);
	metric_set(NULL, 1);
	metric_observe(NULL, &sizes, 1);
	assert_false(metrics_read(m, a, &all, &n));
	metrics_free(m);
	metrics_free(NULL);
	arena_free(a);
}

/* The state that comes later is found. */
static void
test_place_made_later(void **state)
{
	struct metrics *m = open_metrics("later/metrics");
	char later[64];

	(void)state;
	assert_null(metrics_series(m, &visits, ""));
	snprintf(later, sizeof later, "%s/later", folder);
	assert_int_equal(io_make_dirs(later, 0700, NULL), 0);
	for (int i = 0; i < 500 && !metrics_series(m, &visits, ""); i++)
		usleep(10000);
	assert_non_null(metrics_series(m, &visits, ""));
	metrics_free(m);
}

static void
test_full(void **state)
{
	struct metrics *m = open_metrics("full");
	metric_value *first = metrics_series(m, &visits, "n=\"0\"");
	char labels[METRIC_KEY_MAX + 1];
	int made = 1;

	(void)state;
	for (int i = 1; i < 20000; i++) {
		snprintf(labels, sizeof labels, "n=\"%d\"", i);
		made += metrics_series(m, &visits, labels) != NULL;
	}
	assert_int_equal(made, 16384);
	assert_ptr_equal(metrics_series(m, &visits, "n=\"0\""), first);
	memset(labels, 'x', METRIC_KEY_MAX);
	labels[METRIC_KEY_MAX] = '\0';
	assert_null(metrics_series(m, &visits, labels));
	metrics_free(m);
}

/* A file that another program spoilt leads nowhere. */
static void
test_spoilt(void **state)
{
	struct metrics *m = open_metrics("spoilt");
	struct arena *a = arena_new();
	struct metric_reading *all;
	unsigned char noise[4096];
	size_t n;
	FILE *f;

	(void)state;
	metric_add(metrics_series(m, &visits, ""), 1);
	f = fopen(path, "r+");
	assert_non_null(f);
	memset(noise, 0xa5, sizeof noise);
	fseek(f, 32 + 8, SEEK_SET);
	for (int i = 0; i < 300; i++)
		assert_int_equal(fwrite(noise, sizeof noise, 1, f), 1);
	fclose(f);
	assert_true(metrics_read(m, a, &all, &n));
	assert_int_equal(n, 0);
	metric_add(metrics_series(m, &visits, "new=\"1\""), 3);
	assert_int_equal(count_of(m, &visits, "new=\"1\""), 3);
	metrics_free(m);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_exact_over_threads_and_processes),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_place_made_later),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_spoilt),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
