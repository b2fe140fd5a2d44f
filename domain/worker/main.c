/*
 * probity-worker: what a ledger needs beside its requests. One thread takes a
 * new configuration, and once a minute queues what is due and measures;
 * another makes the ledgers durable beyond their journals, every second; the
 * third does jobs, so that a long one delays neither; the fourth does those
 * that wait for other machines, so that one which is down delays no upkeep; the
 * fifth those that take hours because they are held to a rate; the sixth hands
 * what webhooks are due to threads of their own.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "domain/config.h"
#include "domain/courier.h"
#include "domain/limits.h"
#include "domain/worker.h"
#include "ledger/base/confine.h"
#include "ledger/base/log.h"
#include "ledger/store/repo.h"
#include "ledger/write/content.h"

#define ROUND_MS       1000
#define SCHEDULE_S     60
#define JOBS_PER_ROUND 16
#define N_LOOPS        5
/* Going through a ledger from end to end must not fill the memory with it. */
#define PACKS_MAPPED ((size_t)64 << 20)

static atomic_bool stopping, reloading;
static _Atomic(struct service *) serving; /* for the signal's handler */
static struct courier_pool *couriers;     /* of webhook_loop */

struct program {
	struct service *service;
	struct str name;
	bool once;
};

typedef void (*visit)(const struct worker *, struct arena *);

static void
complain(const struct worker *w, const char *what, const struct err *e)
{
	log_line(LOG_WARN, "worker", "%.*s/%.*s: %s: %s",
	    STR_ARGS(w->place.workspace), STR_ARGS(w->place.environment), what,
	    e->detail);
}

static void
schedule(const struct worker *w, struct arena *a)
{
	struct err e = { 0 };

	if (worker_schedule(w, a, &e))
		complain(w, "schedule", &e);
}

/* A ledger that cannot be opened is tried again every round, and told of once
 * a minute, by the schedule. */
static void
visit_place(const struct program *p, const struct place *place, visit f)
{
	struct worker w = {
		.service = p->service,
		.place = *place,
		.name = p->name,
	};
	struct arena *a = arena_new();
	struct err e = { 0 };

	if (service_acquire(p->service, place, &w.ledger, &e)) {
		if (f == schedule)
			complain(&w, "cannot be opened", &e);
	} else {
		f(&w, a);
		service_release(p->service, w.ledger);
	}
	arena_free(a);
}

/* All of them, beginning with the one of that number. */
static void
visit_from(const struct program *p, size_t first, visit f)
{
	struct arena *a = arena_new();
	struct place *places;
	struct err e = { 0 };
	size_t n;

	if (service_places(p->service, a, &places, &n, &e))
		log_line(LOG_WARN, "worker", "%s", e.detail);
	for (size_t i = 0; i < n && !stopping; i++)
		visit_place(p, &places[(first + i) % n], f);
	arena_free(a);
}

static void
visit_all(const struct program *p, visit f)
{
	visit_from(p, 0, f);
}

static void
sync_ledger(const struct worker *w, struct arena *a)
{
	struct err e = { 0 };

	(void)a;
	if (ledger_sync(w->ledger, &e))
		complain(w, "sync", &e);
}

/* An older copy of the keys that was put back does not stay as it came. */
static void
finish_erasures(const struct worker *w, struct arena *a)
{
	struct err e = { 0 };

	(void)a;
	if (ledger_settle_erasures(w->ledger, &e))
		complain(w, "erasures", &e);
}

static void
run_jobs(const struct worker *w, struct arena *a)
{
	for (int i = 0; i < JOBS_PER_ROUND && !stopping; i++) {
		struct err e = { 0 };
		int ran = worker_run_one(w, a, &e);

		if (ran < 0)
			complain(w, "job", &e);
		if (ran <= 0)
			return;
		arena_reset(a);
	}
}

static void
run_part(const struct worker *w, enum worker_part part, struct arena *a)
{
	struct worker own = *w;

	own.part = part;
	run_jobs(&own, a);
}

static void
run_local_jobs(const struct worker *w, struct arena *a)
{
	run_part(w, WORKER_LOCAL, a);
}

static void
run_remote_jobs(const struct worker *w, struct arena *a)
{
	run_part(w, WORKER_REMOTE, a);
}

static void
measure(const struct worker *w, struct arena *a)
{
	struct err e = { 0 };

	if (worker_measure(w, a, &e))
		complain(w, "measuring", &e);
}

static void
measure_all(const struct program *p)
{
	visit_all(p, measure);
	worker_measured(p->service);
}

/* Until the next round, or until a signal says stop. */
static void
rest(void)
{
	struct timespec t = { .tv_sec = ROUND_MS / 1000,
		.tv_nsec = ROUND_MS % 1000 * 1000000L };

	if (!stopping)
		nanosleep(&t, NULL);
}

static void
run_background_jobs(const struct worker *w, struct arena *a)
{
	run_part(w, WORKER_BACKGROUND, a);
}

static void *
run_loop(const struct program *p, visit f)
{
	while (!stopping) {
		visit_all(p, f);
		rest();
	}
	return NULL;
}

static void *
sync_loop(void *arg)
{
	return run_loop(arg, sync_ledger);
}

static void *
local_loop(void *arg)
{
	return run_loop(arg, run_local_jobs);
}

static void *
remote_loop(void *arg)
{
	return run_loop(arg, run_remote_jobs);
}

static void *
background_loop(void *arg)
{
	return run_loop(arg, run_background_jobs);
}

/* What requests were counted is on the disk a minute later. */
static void
keep_limits(const struct program *p)
{
	struct err e = { 0 };

	if (limits_keep(p->service, &e))
		log_line(LOG_WARN, "worker", "request counts: %s", e.detail);
}

/* Told of once a minute at most: it is tried twice a second. */
static void
deliver(const struct worker *w, struct arena *a)
{
	static _Atomic int64_t told_us;
	struct err e = { 0 };
	int64_t now = service_now(w->service).us;

	if (courier_pool_visit(couriers, w, a, &e) == 0)
		return;
	if (now - told_us < SCHEDULE_S * INT64_C(1000000))
		return;
	complain(w, "webhooks", &e);
	told_us = now;
}

/* Who is first takes what threads are free, so each ledger is that in turn. */
static void *
webhook_loop(void *arg)
{
	const struct program *p = arg;

	couriers = courier_pool_new(p->service, p->name);
	for (size_t round = 0; !stopping; round++) {
		visit_from(p, round, deliver);
		courier_pool_rest(couriers);
	}
	courier_pool_free(couriers);
	return NULL;
}

static void
deliver_all(const struct worker *w, struct arena *a)
{
	struct courier courier = { .worker = w };
	struct err e = { 0 };

	if (courier_run_all(&courier, a, &e))
		complain(w, "webhooks", &e);
}

static void
clock_loop(const struct program *p)
{
	for (unsigned round = 0; !stopping; round++) {
		if (atomic_exchange(&reloading, false))
			service_reload_logged(p->service, "worker");
		if (round % SCHEDULE_S == 0) {
			visit_all(p, finish_erasures);
			visit_all(p, schedule);
			keep_limits(p);
			measure_all(p);
		}
		rest();
	}
}

static void
stop(int signal_number)
{
	struct service *s = serving;

	(void)signal_number;
	stopping = true;
	if (s)
		service_stop(s);
}

static void
reload(int signal_number)
{
	(void)signal_number;
	reloading = true;
}

static void
catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop };

	sigemptyset(&action.sa_mask);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL); /* wakes another thread */
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	/* Nothing that is under way ends early for it. */
	action.sa_handler = reload;
	action.sa_flags = SA_RESTART;
	sigaction(SIGHUP, &action, NULL);
}

/* It may be asleep: the signal that stopped this thread woke it alone. */
static void
end_thread(pthread_t thread)
{
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
}

static int
run(struct program *p)
{
	static void *(*const loops[N_LOOPS])(void *) = { sync_loop, local_loop,
		remote_loop, background_loop, webhook_loop };
	pthread_t threads[N_LOOPS];
	size_t n = 0;

	if (p->once) {
		visit_all(p, finish_erasures);
		visit_all(p, schedule);
		visit_all(p, run_jobs);
		visit_all(p, deliver_all);
		visit_all(p, sync_ledger);
		keep_limits(p);
		measure_all(p);
		return 0;
	}
	while (n < N_LOOPS && !pthread_create(&threads[n], NULL, loops[n], p))
		n++;
	if (n < N_LOOPS) {
		log_line(LOG_ERROR, "worker", "cannot start a thread");
		stopping = true;
	} else {
		log_line(LOG_INFO, "worker", "%.*s started", STR_ARGS(p->name));
		clock_loop(p);
	}
	service_stop(p->service);
	for (size_t i = n; i-- > 0;)
		end_thread(threads[i]);
	if (n < N_LOOPS)
		return 3;
	log_line(LOG_INFO, "worker", "%.*s stopped", STR_ARGS(p->name));
	return 0;
}

static struct str
own_name(struct arena *a)
{
	char host[65] = "";

	if (gethostname(host, sizeof host - 1))
		memcpy(host, "host", sizeof "host");
	return arena_strf(a, "worker-%s-%ld", host, (long)getpid());
}

static void
log_fault(void *unused, const char *line)
{
	(void)unused;
	log_line(LOG_ERROR, "worker", "%s", line);
}

static int
start(struct program *p, struct arena *a)
{
	struct config config;
	struct err e = { 0 };
	int status;

	catch_signals();
	repo_library_bound(PACKS_MAPPED);
	if (config_load(a, &config, &e) ||
	    service_new(&config, &p->service, &e)) {
		config_complain(&e, log_fault, NULL);
		return 3;
	}
	config_set_log_level(&config);
	/* Mirrors, folders and endpoints are configured while it runs: no
	 * limits to files and network. */
	if (!str_is(config.confine, "no"))
		confined_tell(confine(&(struct confine_limits){ 0 }), "worker");
	serving = p->service;
	status = run(p);
	serving = NULL;
	service_free(p->service);
	return status;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct program p = { .name = own_name(a) };
	int status = -1;

	for (int i = 1; i < argc && status < 0; i++) {
		if (strcmp(argv[i], "--once") == 0) {
			p.once = true;
		} else if (strcmp(argv[i], "--version") == 0) {
			puts("probity-worker " PROBITY_VERSION);
			status = 0;
		} else {
			bool help = strcmp(argv[i], "--help") == 0;

			fputs("probity-worker [--once]\n"
			      "  --once     one round, then exit\n"
			      "  --version  the version\n"
			      "Configured as docs/configuration.md says.\n",
			    help ? stdout : stderr);
			status = help ? 0 : 2;
		}
	}
	if (status < 0)
		status = start(&p, a);
	arena_free(a);
	return status;
}
