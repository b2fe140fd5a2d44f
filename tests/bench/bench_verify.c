/*
 * How fast a ledger is verified: makes one of `events` events in batches of
 * `batch`, then prints events a second, quick and full, and what bare Ed25519
 * verification of the same number of messages would allow.
 *
 *	bench_verify [events [batch]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "ledger/chain/verify.h"
#include "tests/support/small_ledger.h"

static double
seconds(void)
{
	return (double)clock_system.steady(&clock_system).us / 1e6;
}

static uint64_t
argument(int argc, char **argv, int i, uint64_t otherwise)
{
	uint64_t v;

	return argc > i && str_to_u64(str_from(argv[i]), &v) && v > 0
		   ? v
		   : otherwise;
}

/* One core's rate of bare verifications of messages as long as an event. */
static double
ed25519_rate(struct small_ledger *l)
{
	char message[800] = { '{' };
	struct str s = { message, sizeof message };
	struct signature sig;
	double start;
	int n = 2000;

	if (signer_sign(l->signer, SIGNS_EVENT, s, &sig, NULL))
		abort();
	start = seconds();
	for (int i = 0; i < n; i++)
		if (!ed25519_verify(l->key, s, sig))
			abort();
	return n / (seconds() - start);
}

static double
rate(struct small_ledger *l, bool quick, unsigned threads)
{
	struct verify_options o = {
		.key = l->key, .quick = quick, .threads = threads
	};
	struct verify_report r;
	struct err e = { 0 };

	if (verify_ledger(l->repo_path, &o, &r, &e) || !r.good) {
		fprintf(stderr, "%s%s\n", e.detail, r.reason);
		exit(1);
	}
	return (double)r.events / r.seconds;
}

int
main(int argc, char **argv)
{
	uint64_t events = argument(argc, argv, 1, 50000);
	uint64_t batch = argument(argc, argv, 2, 64);
	struct small_ledger *l = small_ledger_new();

	while (l->tree.size < events) {
		uint64_t rest = events - l->tree.size;

		small_ledger_add(l, (size_t)(rest < batch ? rest : batch));
		/* What the next batch needs is not in the arena. */
		arena_reset(l->a);
	}
	printf("{\"events\":%llu,\"batch\":%llu,",
	    (unsigned long long)l->tree.size, (unsigned long long)batch);
	printf("\"ed25519_per_core\":%.0f,", ed25519_rate(l));
	printf("\"quick_1\":%.0f,", rate(l, true, 1));
	printf("\"quick\":%.0f,", rate(l, true, 0));
	printf("\"full_1\":%.0f,", rate(l, false, 1));
	printf("\"full\":%.0f}\n", rate(l, false, 0));
	small_ledger_free(l);
	return 0;
}
