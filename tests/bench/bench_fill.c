/*
 * Brings a workspace's sandbox ledger to a number of events: Financial Actions
 * by the whole path of a request but for the web server.
 *
 *	bench_fill KEY BODY-FILE EVENTS
 *
 * KEY is an API key. {ref} in the body becomes a reference of its own. Where
 * the ledger is, the configuration says, as for the programs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "domain/call.h"
#include "domain/catalog.h"
#include "ledger/base/io.h"

#define WRITERS 64

static struct service *service;
static struct ledger *ledger;
static struct caller caller;
static struct str head, tail; /* of the body, around {ref} */
static atomic_long left, failed;
static atomic_int working;
static long size_before;

static void
die(const char *what, const struct err *e)
{
	fprintf(stderr, "bench_fill: %s: %s\n", what, e->detail);
	exit(1);
}

static int
create_action(struct arena *a, long number, struct err *e)
{
	struct call call = {
		.op = catalog_by_id(STR("action.create_credit")),
		.caller = &caller,
		.ledger = ledger,
		.request = uid_new(),
		.target = STR("/api/v2/actions/credit-corporate"),
	};
	struct reply reply;
	struct json *body;

	call.body = arena_strf(a, "%.*sF-%ld%.*s", STR_ARGS(head),
	    size_before + number, STR_ARGS(tail));
	if (json_parse(a, call.body, &json_limits_default, &body, e))
		return -1;
	call.input.body = body;
	return call_run(service, &call, a, &reply, e);
}

static void *
write_actions(void *unused)
{
	struct arena *a = arena_new();
	long number;

	(void)unused;
	while ((number = atomic_fetch_sub(&left, 1)) > 0) {
		struct err e = { 0 };

		if (create_action(a, number, &e) &&
		    atomic_fetch_add(&failed, 1) == 0)
			fprintf(stderr, "bench_fill: %s\n", e.detail);
		arena_reset(a);
	}
	arena_free(a);
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static long
ledger_size(void)
{
	struct reading reading;
	struct err e = { 0 };
	uint64_t size;

	if (ledger_read_begin(ledger, &reading, &e) ||
	    ledger_read_size(&reading, &size, &e))
		die("read", &e);
	ledger_read_end(&reading);
	return (long)size;
}

static void
prepare(struct arena *a, const char *key, const char *path)
{
	struct config config;
	struct str body;
	struct err e = { 0 };
	const char *at;

	if (config_load(a, &config, &e) || service_new(&config, &service, &e) ||
	    call_authenticate(
		service, str_from(key), a, &caller, &ledger, &e) ||
	    io_read_file(a, path, 65536, &body, &e))
		die("prepare", &e);
	at = memmem(body.p, body.n, "{ref}", 5);
	if (!at)
		die(path, &(struct err){ .detail = "has no {ref}" });
	head = str_slice(body, 0, (size_t)(at - body.p));
	tail = str_slice(body, head.n + 5, body.n);
}

/* What the worker does every second. */
static void
sync_meanwhile(void)
{
	while (atomic_load(&working) > 0) {
		struct err e = { 0 };

		usleep(200000);
		if (ledger_sync(ledger, &e))
			die("sync", &e);
	}
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	pthread_t writers[WRITERS];
	int64_t from;
	long n;

	if (argc != 4)
		return 2;
	prepare(a, argv[1], argv[2]);
	size_before = ledger_size();
	n = strtol(argv[3], NULL, 10) - size_before;
	atomic_store(&left, n);
	atomic_store(&working, WRITERS);
	from = clock_system.steady(&clock_system).us;
	for (int i = 0; i < WRITERS; i++)
		if (pthread_create(&writers[i], NULL, write_actions, NULL))
			return 1;
	sync_meanwhile();
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	printf("{\"events\":%ld,\"added\":%ld,\"rate\":%.0f}\n", ledger_size(),
	    n > 0 ? n : 0,
	    (double)(n > 0 ? n : 0) * 1e6 /
		(double)(clock_system.steady(&clock_system).us - from + 1));
	service_release(service, ledger);
	service_free(service);
	arena_free(a);
	return atomic_load(&failed) > 0;
}
