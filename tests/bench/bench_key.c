/*
 * What signing with a key costs, kept in a file or on a token: signatures over
 * an event's bytes by one thread, and by as many as there are cores.
 *
 *	bench_key KEY-FILE [SECONDS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void *
run(void *rate)
{
	struct str text = { message, sizeof message };
	double from = now_s(), spent, *out = rate;
	struct signature signature;
	long n = 0;

	do {
		if (private_key_sign(key, text, &signature, NULL))
			abort();
		n++;
		spent = now_s() - from;
	} while (spent < seconds);
	*out = (double)n / spent;
	return NULL;
}

static double
rate_of(int n)
{
	pthread_t threads[THREADS_MAX];
	double rates[THREADS_MAX], sum = 0;

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, &rates[i]))
			abort();
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		sum += rates[i];
	}
	return sum;
}

int
main(int argc, char **argv)
{
	int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
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
	printf("{\"cores\":%d,\"sign_one_thread\":%.0f,"
	       "\"sign_all_cores\":%.0f}\n",
	    cores, rate_of(1), rate_of(cores));
	private_key_free(key);
	return 0;
}
