#include "domain/limits/counters.h"

#define SECOND_NS 1000000000u

/* Cells looked at for one key; a table that needs more has no room. */
#define PROBES_MAX 512

/* A time further ahead than any bucket needs, by more than threads may
 * disagree about the time. */
#define IMPOSSIBLE_NS (3600ull * SECOND_NS)

/* Makes the free word the caller's, or finds that it is. */
static bool
claim(_Atomic uint64_t *word, uint64_t value, bool make)
{
	uint64_t found = atomic_load(word);

	if (found == 0 && make &&
	    atomic_compare_exchange_strong(word, &found, value))
		return true;
	return found == value;
}

struct limit_cell *
limit_cell_find(
    struct limit_cell *cells, size_t n, struct limit_key key, bool make)
{
	size_t probes = n < PROBES_MAX ? n : PROBES_MAX;

	for (size_t i = 0; i < probes; i++) {
		struct limit_cell *cell = &cells[(key.first + i) % n];

		if (claim(&cell->first, key.first, make) &&
		    claim(&cell->second, key.second, make))
			return cell;
		if (!make && atomic_load(&cell->first) == 0)
			return NULL;
	}
	return NULL;
}

struct bucket
bucket_of(uint64_t requests_per_second, uint64_t burst)
{
	uint64_t rate = requests_per_second ? requests_per_second : 1;

	return (struct bucket){
		.burst = burst ? burst : 1,
		.interval_ns = rate < SECOND_NS ? SECOND_NS / rate : 1,
	};
}

/* The moment until which everything is spent, between now and now with an
 * empty bucket. */
static uint64_t
spent(uint64_t until, struct bucket b, uint64_t now)
{
	uint64_t empty = now + b.burst * b.interval_ns;

	if (until < now || until > empty + IMPOSSIBLE_NS)
		return now;
	return until > empty ? empty : until;
}

bool
bucket_take(_Atomic uint64_t *until, struct bucket b, uint64_t now)
{
	uint64_t empty = now + b.burst * b.interval_ns;
	uint64_t old = atomic_load(until), next;

	do {
		next = spent(old, b, now) + b.interval_ns;
		if (next > empty)
			return false;
	} while (!atomic_compare_exchange_weak(until, &old, next));
	return true;
}

void
bucket_give_back(_Atomic uint64_t *until, struct bucket b)
{
	uint64_t old = atomic_load(until), next;

	do
		next = old > b.interval_ns ? old - b.interval_ns : 0;
	while (!atomic_compare_exchange_weak(until, &old, next));
}

uint64_t
bucket_left(uint64_t until, struct bucket b, uint64_t now)
{
	uint64_t ahead = spent(until, b, now) - now;

	return (b.burst * b.interval_ns - ahead) / b.interval_ns;
}

uint64_t
bucket_wait_ns(uint64_t until, struct bucket b, uint64_t now)
{
	uint64_t ahead = spent(until, b, now) - now;

	if (ahead == 0)
		return 0;
	return b.interval_ns -
	       (b.burst * b.interval_ns - ahead) % b.interval_ns;
}

bool
quota_take(_Atomic uint64_t *used, uint64_t quota)
{
	uint64_t old = atomic_load(used);

	do
		if (old >= quota)
			return false;
	while (!atomic_compare_exchange_weak(used, &old, old + 1));
	return true;
}

void
quota_give_back(_Atomic uint64_t *used)
{
	atomic_fetch_sub(used, 1);
}
