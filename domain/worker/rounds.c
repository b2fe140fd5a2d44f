#include "domain/worker/rounds.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "domain/config.h"
#include "domain/courier.h"
#include "domain/limits.h"
#include "domain/worker.h"
#include "ledger/base/log.h"
#include "ledger/write/content.h"

#define ROUND_MS       1000
#define SCHEDULE_S     60
#define JOBS_PER_ROUND 16
#define N_LOOPS        5

static atomic_bool stopping, reloading;
static _Atomic(struct service *) serving; /* for rounds_stop */
static struct courier_pool *couriers;     /* of webhook_loop */

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

void
rounds_stop(void)
{
	struct service *s = serving;

	stopping = true;
	if (s)
		service_stop(s);
}

void
rounds_reload(void)
{
	reloading = true;
}

/* It may be asleep: the signal that stopped this thread woke it alone. */
static void
end_thread(pthread_t thread)
{
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
}

static int
run_loops(const struct program *p)
{
	static void *(*const loops[N_LOOPS])(void *) = { sync_loop, local_loop,
		remote_loop, background_loop, webhook_loop };
	struct program own = *p;
	pthread_t threads[N_LOOPS];
	size_t n = 0;

	while (
	    n < N_LOOPS && !pthread_create(&threads[n], NULL, loops[n], &own))
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
		return -1;
	log_line(LOG_INFO, "worker", "%.*s stopped", STR_ARGS(p->name));
	return 0;
}

static void
run_once(const struct program *p)
{
	visit_all(p, finish_erasures);
	visit_all(p, schedule);
	visit_all(p, run_jobs);
	visit_all(p, deliver_all);
	visit_all(p, sync_ledger);
	keep_limits(p);
	measure_all(p);
}

int
rounds_run(const struct program *p, bool once)
{
	int rc = 0;

	serving = p->service;
	if (once)
		run_once(p);
	else
		rc = run_loops(p);
	serving = NULL;
	return rc;
}
