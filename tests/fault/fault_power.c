/*
 * Loss of power, again and again.
 *
 *	fault_power [ROUNDS [SEED]]
 *
 * What was written since the last sync of the filesystem is torn, gone or
 * older at random (tests/support/power.h); the journal alone is whole. The
 * ledger is opened as after a boot, and everything acknowledged is there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/support/power.h"
#include "tests/support/witness.h"

#define THREADS 4

static struct toy toy;
static struct ledger *ledger;
static struct claims claims;
static long round_number;

struct noting {
	pthread_t thread;
	char text[CLAIM_TEXT];
	struct claim claim;
};

static void *
note_one(void *arg)
{
	struct noting *n = arg;

	n->claim = claim_note(ledger, n->text);
	return NULL;
}

static void
note_together(int batch)
{
	struct noting n[THREADS];

	for (int i = 0; i < THREADS; i++) {
		snprintf(n[i].text, CLAIM_TEXT, "round %ld, batch %d, note %d",
		    round_number, batch, i);
		if (pthread_create(&n[i].thread, NULL, note_one, &n[i]))
			abort();
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(n[i].thread, NULL);
		if (n[i].claim.kind != CLAIM_ACKED)
			witness_die(&toy, "round %ld: %s: %s", round_number,
			    n[i].claim.slug, n[i].claim.detail);
		claims_add(&claims, &n[i].claim);
	}
}

/* Some batches, and perhaps the upkeep that a worker does. */
static void
live(void)
{
	int batches = (int)(lrand48() % 5);
	struct err e = { 0 };
	size_t packed;

	for (int i = 0; i < batches; i++)
		note_together(i);
	if (drand48() < 0.3 && ledger_sync(ledger, &e))
		witness_die(&toy, "sync: %s", e.detail);
	if (drand48() < 0.2 && ledger_pack(ledger, 10, &packed, &e))
		witness_die(&toy, "pack: %s", e.detail);
	batches = (int)(lrand48() % 3);
	for (int i = 0; i < batches; i++)
		note_together(10 + i);
}

int
main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	long seed = argc > 2 ? strtol(argv[2], NULL, 10) : time(NULL);

	srand48(seed);
	toy_create(&toy, witness_fast_dir());
	for (round_number = 0; round_number < rounds; round_number++) {
		ledger = witness_open(&toy);
		claims_check(&claims, &toy, ledger);
		live();
		if (round_number % 10 == 9) {
			witness_verify(&toy, ledger);
			witness_checkpoints(&toy);
		}
		ledger_close(ledger);
		power_loss(&toy);
	}
	witness_all(&claims, &toy);
	printf("%ld losses of power, %zu acknowledged, all there (seed %ld)\n",
	    rounds, claims.acked, seed);
	toy_remove(&toy);
	return 0;
}
