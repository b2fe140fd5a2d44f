#include "ledger/chain/verify_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define UNIT        8 /* batches that a thread takes at once */
#define THREADS_MAX 64
#define TENTH_NS    100000000L

struct slot {
	bool done;
	size_t n;
	struct arena *arena;
	struct batch_result results[UNIT];
};

/* Unit u lies in slot u % n_slots from when a thread claims it until it has
 * been handed out whole. */
struct verify_pool {
	const char *repo_path;
	struct verify_scopes scopes;
	const struct oid *commits;
	size_t n, n_units;

	pthread_mutex_t lock;
	pthread_cond_t filled, freed;
	size_t claimed, handed; /* units */
	size_t within;          /* batches handed out of unit `handed` */
	bool stop;
	struct err fatal;

	struct slot *slots;
	size_t n_slots;
	pthread_t threads[THREADS_MAX];
	unsigned n_threads;
};

static int
check_unit(struct verify_pool *p, struct verify_bench *bench, size_t unit,
    struct err *e)
{
	struct slot *slot = &p->slots[unit % p->n_slots];
	size_t first = unit * UNIT;

	arena_reset(slot->arena);
	slot->n = p->n - first < UNIT ? p->n - first : UNIT;
	for (size_t i = 0; i < slot->n; i++)
		if (verify_batch(verify_scope_of(&p->scopes, first + i), bench,
			p->commits[first + i], slot->arena, &slot->results[i],
			e))
			return -1;
	return 0;
}

static bool
claim(struct verify_pool *p, size_t *unit)
{
	bool some;

	pthread_mutex_lock(&p->lock);
	while (!p->stop && p->claimed < p->n_units &&
	       p->claimed - p->handed >= p->n_slots)
		pthread_cond_wait(&p->freed, &p->lock);
	some = !p->stop && p->claimed < p->n_units;
	if (some)
		*unit = p->claimed++;
	pthread_mutex_unlock(&p->lock);
	return some;
}

static void
finish(struct verify_pool *p, size_t unit, int rc, const struct err *e)
{
	pthread_mutex_lock(&p->lock);
	if (rc && !p->fatal.kind)
		p->fatal = *e;
	if (!rc)
		p->slots[unit % p->n_slots].done = true;
	pthread_cond_signal(&p->filled);
	pthread_mutex_unlock(&p->lock);
}

static void *
work(void *arg)
{
	struct verify_pool *p = arg;
	struct verify_bench bench = { .batch = arena_new(),
		.payload = arena_new() };
	struct err e = { 0 };
	size_t unit = 0;
	int rc;

	buf_init(&bench.signers.bytes, NOTE_MAX);
	rc = repo_open_for_reading(p->repo_path, &bench.repo, &e);
	if (rc)
		finish(p, 0, rc, &e);
	while (!rc && claim(p, &unit)) {
		rc = check_unit(p, &bench, unit, &e);
		finish(p, unit, rc, &e);
	}
	repo_close(bench.repo);
	buf_fini(&bench.signers.bytes);
	arena_free(bench.batch);
	arena_free(bench.payload);
	return NULL;
}

static void
start_threads(struct verify_pool *p, unsigned threads)
{
	for (; p->n_threads < threads; p->n_threads++)
		if (pthread_create(&p->threads[p->n_threads], NULL, work, p))
			break;
	if (p->n_threads == 0)
		err_set(&p->fatal, &err_unavailable, "no thread can be made");
}

struct verify_pool *
verify_pool_new(const char *repo_path, struct verify_scopes scopes,
    const struct oid *commits, size_t n, unsigned threads)
{
	struct verify_pool *p = calloc(1, sizeof *p);
	pthread_condattr_t attr;

	if (!p)
		abort();
	if (threads == 0)
		threads = 1;
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	p->repo_path = repo_path;
	p->scopes = scopes;
	p->commits = commits;
	p->n = n;
	p->n_units = (n + UNIT - 1) / UNIT;
	p->n_slots = 4 * (size_t)threads;
	p->slots = calloc(p->n_slots, sizeof *p->slots);
	if (!p->slots)
		abort();
	for (size_t i = 0; i < p->n_slots; i++)
		p->slots[i].arena = arena_new();
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->freed, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->filled, &attr);
	pthread_condattr_destroy(&attr);
	start_threads(p, threads);
	return p;
}

/* Gives the slot back that was handed out whole. */
static void
release(struct verify_pool *p)
{
	struct slot *slot = &p->slots[p->handed % p->n_slots];

	if (!slot->done || p->within < slot->n)
		return;
	slot->done = false;
	p->handed++;
	p->within = 0;
	pthread_cond_broadcast(&p->freed);
}

static int
next_locked(struct verify_pool *p, const struct batch_result **out,
    const struct timespec *until)
{
	struct slot *slot;

	release(p);
	if (p->handed == p->n_units)
		return 0;
	slot = &p->slots[p->handed % p->n_slots];
	while (!slot->done && !p->fatal.kind)
		if (pthread_cond_timedwait(&p->filled, &p->lock, until))
			return 2;
	if (!slot->done)
		return -1;
	*out = &slot->results[p->within++];
	return 1;
}

int
verify_pool_next(
    struct verify_pool *p, const struct batch_result **out, struct err *e)
{
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TENTH_NS;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_mutex_lock(&p->lock);
	rc = next_locked(p, out, &until);
	if (rc < 0)
		err_set(e, p->fatal.kind, "%s", p->fatal.detail);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

void
verify_pool_free(struct verify_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->freed);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n_threads; i++)
		pthread_join(p->threads[i], NULL);
	for (size_t i = 0; i < p->n_slots; i++)
		arena_free(p->slots[i].arena);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->filled);
	pthread_cond_destroy(&p->freed);
	free(p->slots);
	free(p);
}
