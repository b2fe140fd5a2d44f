/*
 * How fast a workspace's sandbox ledger is verified and rebuilt, in events a
 * second. Small ones are gone through again until the time says something.
 *
 *	bench_replay WORKSPACE
 *
 * Where the ledger is, the configuration says, as for the programs; nothing
 * else may have it open.
 */
#include <stdio.h>
#include <stdlib.h>

#include "domain/service.h"
#include "ledger/chain/verify.h"
#include "ledger/write/ledger.h"

#define LEAST_S 0.5

static struct ledger_options options;

static void
die(const char *what, const char *why)
{
	fprintf(stderr, "bench_replay: %s: %s\n", what, why);
	exit(1);
}

static double
now_s(void)
{
	return (double)clock_system.steady(&clock_system).us / 1e6;
}

static struct public_key
find_key(void)
{
	struct ledger *ledger;
	struct public_key key;
	struct err e = { 0 };

	if (ledger_open(&options, &ledger, &e))
		die("open", e.detail);
	key = ledger_public_key(ledger);
	ledger_close(ledger);
	return key;
}

static double
verify_rate(struct public_key key, bool quick)
{
	struct verify_options o = { .key = key, .quick = quick };
	char path[4096];
	double from = now_s(), spent;
	uint64_t events = 0;

	snprintf(path, sizeof path, "%s/ledger.git", options.dir);
	do {
		struct verify_report r;
		struct err e = { 0 };

		if (verify_ledger(path, &o, &r, &e))
			die("verify", e.detail);
		if (!r.good)
			die("verify", r.reason);
		events += r.events;
		spent = now_s() - from;
	} while (spent < LEAST_S);
	return (double)events / spent;
}

static double
rebuild_rate(void)
{
	double from = now_s(), spent;
	uint64_t events = 0;

	do {
		struct err e = { 0 };
		uint64_t n;

		if (ledger_rebuild(&options, NULL, NULL, &n, &e))
			die("rebuild", e.detail);
		events += n;
		spent = now_s() - from;
	} while (spent < LEAST_S);
	return (double)events / spent;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct service *service;
	struct config config;
	struct place place = { .environment = STR("sandbox") };
	struct public_key key;
	struct err e = { 0 };

	if (argc != 2)
		return 2;
	place.workspace = str_from(argv[1]);
	if (config_load(a, &config, &e) || service_new(&config, &service, &e) ||
	    service_ledger_options(service, &place, a, &options, &e))
		die("options", e.detail);
	key = find_key();
	printf("{\"verify_full\":%.0f,", verify_rate(key, false));
	printf("\"verify_quick\":%.0f,", verify_rate(key, true));
	printf("\"rebuild\":%.0f}\n", rebuild_rate());
	service_free(service);
	arena_free(a);
	return 0;
}
