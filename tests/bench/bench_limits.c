/*
 * What it costs to count a request: nanoseconds of one thread, and of several
 * that all count for one application, which is the worst case. DIR is thrown
 * away afterwards by whoever made it.
 *
 *	bench_limits DIR [SECONDS]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "domain/limits.h"

#define THREADS_MAX 64

static struct service *service;
static double seconds = 1;
static struct limits_party party = {
	.place = { { "acme", 4 }, { "sandbox", 7 }, 0 },
	.credential = { "pby_test_acme_4Fz0aQ7x", 22 },
	.limits.application = { LIMIT_RATE_MAX, LIMIT_BURST_MAX,
	    LIMIT_MONTHLY_MAX },
};

struct counting {
	pthread_t thread;
	double ns_each;
};

static double
now_s(void)
{
	return (double)clock_system.steady(&clock_system).us / 1e6;
}

/* The machine may be busy with other things. */
static double
own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *
count(void *arg)
{
	struct counting *c = arg;
	struct arena *a = arena_new();
	double end = now_s() + seconds, begun_ns = own_ns();
	unsigned n = 0;

	do {
		for (int i = 0; i < 1000; i++, n++) {
			struct limits_report report;
			struct err e = { 0 };

			/* A refusal is an answer, too. */
			limits_take(service, &party, a, &report, &e);
			if (report.n != 2)
				abort();
			arena_reset(a);
		}
	} while (now_s() < end);
	arena_free(a);
	c->ns_each = (own_ns() - begun_ns) / n;
	return NULL;
}

/* Of the threads' own time. */
static double
measure(int n)
{
	struct counting all[THREADS_MAX];
	double sum = 0;

	for (int i = 0; i < n; i++)
		if (pthread_create(&all[i].thread, NULL, count, &all[i]))
			abort();
	for (int i = 0; i < n; i++) {
		pthread_join(all[i].thread, NULL);
		sum += all[i].ns_each;
	}
	return sum / n;
}

int
main(int argc, char **argv)
{
	struct config config = { .max_ledgers = 1 };
	struct err e = { 0 };

	if (argc < 2) {
		fputs("usage: bench_limits DIR [SECONDS]\n", stderr);
		return 2;
	}
	config.state = str_from(argv[1]);
	if (argc > 2)
		seconds = strtod(argv[2], NULL);
	if (service_new(&config, &service, &e)) {
		fprintf(stderr, "bench_limits: %s\n", e.detail);
		return 1;
	}
	printf("{\"ns_alone\":%.0f", measure(1));
	printf(",\"ns_of_2_threads\":%.0f", measure(2));
	printf(",\"ns_of_8_threads\":%.0f}\n", measure(8));
	service_free(service);
	return 0;
}
