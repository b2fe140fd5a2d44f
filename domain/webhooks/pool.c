/*
 * A thread an errand, started when there is one: most of the time there is
 * none. A thread has the ledger and an arena of its own.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "domain/courier.h"
#include "ledger/base/log.h"

#define THREADS        32
#define THREADS_AILING 16
#define REST_NS        500000000L

struct courier_pool {
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct service *service;
	struct str name;
	size_t busy, busy_ailing;
	bool news; /* a thread ended since the last rest */
};

struct trip {
	struct courier_pool *pool;
	struct arena *arena; /* holds the trip itself */
	struct worker worker;
	struct errand errand;
};

struct courier_pool *
courier_pool_new(struct service *service, struct str name)
{
	struct courier_pool *pool = calloc(1, sizeof *pool);
	pthread_condattr_t steady;

	if (!pool)
		abort();
	pthread_mutex_init(&pool->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->done, &steady);
	pthread_condattr_destroy(&steady);
	pool->service = service;
	pool->name = name;
	return pool;
}

static void
complain(const struct worker *w, const struct err *e)
{
	log_line(LOG_WARN, "worker", "%.*s/%.*s: webhooks: %s",
	    STR_ARGS(w->place.workspace), STR_ARGS(w->place.environment),
	    e->detail);
}

static void
travel(struct trip *trip)
{
	struct courier courier = { .worker = &trip->worker };
	struct arena *a = arena_new();
	struct err e = { 0 };

	if (service_acquire(trip->pool->service, &trip->worker.place,
		&trip->worker.ledger, &e)) {
		complain(&trip->worker, &e);
	} else {
		if (courier_run(&courier, a, &trip->errand, &e))
			complain(&trip->worker, &e);
		service_release(trip->pool->service, trip->worker.ledger);
	}
	arena_free(a);
}

static void
end_trip(struct trip *trip)
{
	struct courier_pool *pool = trip->pool;
	bool ailing = trip->errand.ailing;

	arena_free(trip->arena);
	pthread_mutex_lock(&pool->lock);
	pool->busy--;
	pool->busy_ailing -= ailing;
	pool->news = true;
	pthread_cond_broadcast(&pool->done);
	pthread_mutex_unlock(&pool->lock);
}

static void *
thread(void *arg)
{
	travel(arg);
	end_trip(arg);
	return NULL;
}

static struct trip *
make_trip(struct courier_pool *pool, const struct worker *w,
    const struct errand *errand)
{
	struct arena *a = arena_new();
	struct trip *trip = ARENA_NEW(a, struct trip);

	*trip = (struct trip){
		.pool = pool,
		.arena = a,
		.worker = { .service = pool->service,
		    .place = { arena_str(a, w->place.workspace),
			arena_str(a, w->place.environment), 0 },
		    .name = pool->name },
		.errand = *errand,
	};
	return trip;
}

/* Without a thread it is done here: it was claimed. */
static void
start(struct courier_pool *pool, const struct worker *w,
    const struct errand *errand)
{
	struct trip *trip = make_trip(pool, w, errand);
	pthread_t id;

	pthread_mutex_lock(&pool->lock);
	pool->busy++;
	pool->busy_ailing += errand->ailing;
	pthread_mutex_unlock(&pool->lock);
	if (pthread_create(&id, NULL, thread, trip))
		thread(trip);
	else
		pthread_detach(id);
}

int
courier_pool_visit(struct courier_pool *pool, const struct worker *w,
    struct arena *a, struct err *e)
{
	struct courier courier = { .worker = w };
	struct errand errands[THREADS];
	size_t free_all, free_ailing, n;

	pthread_mutex_lock(&pool->lock);
	free_all = THREADS - pool->busy;
	free_ailing = THREADS_AILING - pool->busy_ailing;
	pthread_mutex_unlock(&pool->lock);
	if (free_all == 0)
		return 0;
	if (courier_claim(&courier, a, free_all, free_ailing, errands, &n, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		start(pool, w, &errands[i]);
	return 0;
}

void
courier_pool_rest(struct courier_pool *pool)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += REST_NS;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&pool->lock);
	while (!pool->news &&
	       pthread_cond_timedwait(&pool->done, &pool->lock, &until) == 0)
		;
	pool->news = false;
	pthread_mutex_unlock(&pool->lock);
}

void
courier_pool_free(struct courier_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	while (pool->busy > 0)
		pthread_cond_wait(&pool->done, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
	pthread_cond_destroy(&pool->done);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}
