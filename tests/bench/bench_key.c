/*
 * What signing with a key costs, kept in a file or on a token: signatures over
 * an event's bytes by one thread, and by as many as there are cores; and the
 * processor's time for each, which a machine with other work does not change.
 *
 *	bench_key KEY-FILE [SECONDS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ledger/base/instant.h"
#include "ledger/crypto/ed25519.h"

#define THREADS_MAX 64

static char message[805];
static struct private_key *key;
static double seconds = 2;

static double
now_s(void)
{
	return (double)clock_system.steady(&clock_system).us / 1e6;
}

struct signing {
	pthread_t thread;
	double rate;   /* a second */
	double cpu_us; /* each */
};

static double
cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void *
run(void *arg)
{
	struct str text = { message, sizeof message };
	double from = now_s(), spent, cpu = cpu_us();
	struct signing *out = arg;
	struct signature signature;
	long n = 0;

	do {
		if (private_key_sign(key, text, &signature, NULL))
			abort();
		n++;
		spent = now_s() - from;
	} while (spent < seconds);
	out->rate = (double)n / spent;
	out->cpu_us = (cpu_us() - cpu) / (double)n;
	return NULL;
}

static struct signing
sum_of(int n)
{
	struct signing threads[THREADS_MAX], sum = { .rate = 0 };

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i].thread, NULL, run, &threads[i]))
			abort();
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i].thread, NULL);
		sum.rate += threads[i].rate;
		sum.cpu_us += threads[i].cpu_us / n;
	}
	return sum;
}

int
main(int argc, char **argv)
{
	int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
	struct signing one, all;
	struct err e = { 0 };

	if (argc < 2)
		return 2;
	if (argc > 2)
		seconds = strtod(argv[2], NULL);
	if (cores > THREADS_MAX)
		cores = THREADS_MAX;
	memset(message, 'x', sizeof message);
	if (private_key_load(argv[1], &key, &e)) {
		fprintf(stderr, "bench_key: %s\n", e.detail);
		return 1;
	}
	one = sum_of(1);
	all = sum_of(cores);
	printf("{\"cores\":%d,\"sign_one_thread\":%.0f,"
	       "\"cpu_us_one_thread\":%.1f,\"sign_all_cores\":%.0f,"
	       "\"cpu_us_all_cores\":%.1f}\n",
	    cores, one.rate, one.cpu_us, all.rate, all.cpu_us);
	private_key_free(key);
	return 0;
}
