/*
 * The ledger library alone: writers that each note one event at a time.
 *
 *	bench_ledger DIR WRITERS SECONDS [EVENT-BYTES [EVENTS]]
 *
 * One line of JSON: rate, latencies, what one event costs on the disk. With
 * EVENTS it stops after so many instead of after SECONDS. DIR may be an
 * existing ledger of this program's: then it goes on with it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/toy.h"

#define SAMPLES 400000

static struct ledger *ledger;
static char text[65536];
static size_t text_n;
static double until;
static atomic_long done, failed, target;

struct writer {
	pthread_t thread;
	double *samples;
	size_t n;
};

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *
write_notes(void *arg)
{
	struct writer *w = arg;
	struct arena *a = arena_new();

	while (now_s() < until && atomic_fetch_sub(&target, 1) > 0) {
		struct receipt r;
		struct err e = { 0 };
		double from = now_s();

		if (toy_note(ledger, a, (struct str){ text, text_n }, &r, &e)) {
			if (atomic_fetch_add(&failed, 1) == 0)
				fprintf(stderr, "%s\n", e.detail);
		} else {
			atomic_fetch_add(&done, 1);
		}
		if (w->n < SAMPLES)
			w->samples[w->n++] = now_s() - from;
		arena_reset(a);
	}
	arena_free(a);
	return NULL;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void
report(struct writer *w, size_t n, double seconds)
{
	size_t total = 0, at = 0;
	double *all;

	for (size_t i = 0; i < n; i++)
		total += w[i].n;
	all = malloc((total + 1) * sizeof *all);
	for (size_t i = 0; i < n; i++) {
		memcpy(all + at, w[i].samples, w[i].n * sizeof *all);
		at += w[i].n;
	}
	qsort(all, total, sizeof *all, compare);
	printf("{\"writers\":%zu,\"events\":%ld,\"failed\":%ld,\"rate\":%.0f,"
	       "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f}\n",
	    n, atomic_load(&done), atomic_load(&failed),
	    (double)atomic_load(&done) / seconds, all[total / 2] * 1e3,
	    all[total * 99 / 100] * 1e3, all[total ? total - 1 : 0] * 1e3);
	free(all);
}

int
main(int argc, char **argv)
{
	struct toy toy;
	struct err e = { 0 };
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	double seconds = argc > 3 ? strtod(argv[3], NULL) : 3;
	size_t bytes = argc > 4 ? strtoul(argv[4], NULL, 10) : 805;
	struct writer *w = calloc(n, sizeof *w);
	double from;

	if (argc < 3)
		return 2;
	toy_create(&toy, argv[1]);
	if (ledger_open(&toy.options, &ledger, &e)) {
		fprintf(stderr, "%s\n", e.detail);
		return 1;
	}
	text_n = bytes > 560 ? bytes - 560 : 1;
	memset(text, 'x', text_n);
	atomic_store(&target, argc > 5 ? strtol(argv[5], NULL, 10) : 1 << 30);
	from = now_s();
	until = from + seconds;
	for (size_t i = 0; i < n; i++) {
		w[i].samples = malloc(SAMPLES * sizeof *w[i].samples);
		pthread_create(&w[i].thread, NULL, write_notes, &w[i]);
	}
	for (size_t i = 0; i < n; i++)
		pthread_join(w[i].thread, NULL);
	report(w, n, now_s() - from);
	ledger_close(ledger);
	if (getenv("KEEP") == NULL)
		toy_remove(&toy);
	else
		fprintf(stderr, "%s\n", toy.dir);
	return 0;
}
