#include "ledger/base/metrics.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ledger/base/arena.h"
#include "ledger/base/instant.h"
#include "ledger/base/private.h"
#include "ledger/base/shared.h"

#define CHAINS   4096
#define ENTRIES  16384
#define VALUES   (1u << 16)
#define RETRY_US 1000000

/* In the file. An entry is written whole before its chain shows it, and never
 * changes; `next` and heads are numbers from 1. */
struct entry {
	char key[METRIC_KEY_MAX]; /* name{labels} */
	uint32_t next;
	uint32_t first : 24, n : 8; /* its values */
};

struct table {
	atomic_uint n, n_values; /* used */
	atomic_uint heads[CHAINS];
	struct entry entries[ENTRIES];
	metric_value values[VALUES];
};

struct metrics {
	struct arena *arena;
	const char *path, *lock_path;
	pthread_mutex_t lock; /* of what follows, and of making series */
	struct shared shared;
	int64_t tried_us;
	_Atomic(struct table *) table; /* NULL: not mapped yet */
};

const uint64_t metric_times_us[METRIC_TIMES] = { 500, 1000, 2500, 5000, 10000,
	25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 5000000,
	10000000 };

struct metrics *
metrics_new(const char *path)
{
	struct arena *a = arena_new();
	struct metrics *m = ARENA_NEW(a, struct metrics);

	m->arena = a;
	m->path = arena_printf(a, "%s", path);
	m->lock_path = arena_printf(a, "%s.lock", path);
	m->tried_us = -RETRY_US;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void
metrics_free(struct metrics *m)
{
	if (!m)
		return;
	shared_close(&m->shared);
	pthread_mutex_destroy(&m->lock);
	arena_free(m->arena);
}

static struct table *
map(struct metrics *m)
{
	struct table *t = atomic_load_explicit(&m->table, memory_order_acquire);
	int64_t now_us;

	if (t)
		return t;
	pthread_mutex_lock(&m->lock);
	now_us = clock_system.steady(&clock_system).us;
	t = atomic_load(&m->table);
	if (!t && now_us - m->tried_us >= RETRY_US) {
		m->tried_us = now_us;
		if (shared_open(m->path, sizeof *t, "probity-metrics/1",
			&m->shared, NULL) == 0) {
			t = m->shared.p;
			atomic_store(&m->table, t);
		}
	}
	pthread_mutex_unlock(&m->lock);
	return t;
}

size_t
metric_values(const struct metric *metric)
{
	return metric->kind == METRIC_HISTOGRAM ? metric->n_bounds + 2 : 1;
}

/* FNV-1a. */
static uint32_t
chain_of(const char *key)
{
	uint32_t h = 2166136261;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619;
	return h % CHAINS;
}

/* Others write the file: what it says is not followed out of it. */
static const struct entry *
entry_at(const struct table *t, uint32_t number)
{
	const struct entry *entry;

	if (number == 0 || number > ENTRIES)
		return NULL;
	entry = &t->entries[number - 1];
	return entry->first + entry->n <= VALUES &&
		       memchr(entry->key, '\0', sizeof entry->key)
		   ? entry
		   : NULL;
}

static const struct entry *
first_of(struct table *t, uint32_t chain)
{
	return entry_at(
	    t, atomic_load_explicit(&t->heads[chain], memory_order_acquire));
}

static const struct entry *
find(struct table *t, const char *key)
{
	const struct entry *entry = first_of(t, chain_of(key));

	for (size_t i = 0; entry && i < ENTRIES; i++) {
		if (strcmp(entry->key, key) == 0)
			return entry;
		entry = entry_at(t, entry->next);
	}
	return NULL;
}

/* What is used is counted before it is shown: after a process that died in
 * between, a place is lost, and nothing else. */
static const struct entry *
add(struct table *t, const char *key, size_t n_values)
{
	uint32_t chain = chain_of(key);
	unsigned n = atomic_load(&t->n), first = atomic_load(&t->n_values);
	struct entry *entry;

	if (n >= ENTRIES || first > VALUES || n_values > VALUES - first)
		return NULL;
	atomic_store(&t->n, n + 1);
	atomic_store(&t->n_values, first + (unsigned)n_values);
	entry = &t->entries[n];
	memcpy(entry->key, key, strlen(key) + 1);
	entry->first = first & 0xffffff;
	entry->n = n_values & 0xff;
	entry->next = atomic_load(&t->heads[chain]);
	atomic_store_explicit(&t->heads[chain], n + 1, memory_order_release);
	return entry;
}

/* One thread of one process makes series at a time. */
static const struct entry *
make(struct metrics *m, struct table *t, const char *key, size_t n_values)
{
	const struct entry *entry = NULL;
	int fd;

	pthread_mutex_lock(&m->lock);
	fd = private_open(
	    AT_FDCWD, m->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX) == 0) {
		entry = find(t, key);
		if (!entry)
			entry = add(t, key, n_values);
	}
	if (fd >= 0)
		close(fd);
	pthread_mutex_unlock(&m->lock);
	return entry;
}

static bool
join_key(char key[METRIC_KEY_MAX], const char *name, const char *labels)
{
	size_t n = strlen(name), more = strlen(labels);

	if (n + more + 3 > METRIC_KEY_MAX)
		return false;
	memcpy(key, name, n);
	key[n++] = '{';
	memcpy(key + n, labels, more);
	n += more;
	key[n++] = '}';
	key[n] = '\0';
	return true;
}

metric_value *
metrics_series(
    struct metrics *m, const struct metric *metric, const char *labels)
{
	size_t n_values = metric_values(metric);
	struct table *t = m ? map(m) : NULL;
	const struct entry *entry;
	char key[METRIC_KEY_MAX];

	if (!t || !join_key(key, metric->name, labels))
		return NULL;
	entry = find(t, key);
	if (!entry)
		entry = make(m, t, key, n_values);
	return entry && entry->n == n_values ? &t->values[entry->first] : NULL;
}

void
metric_add(metric_value *v, uint64_t n)
{
	if (v)
		atomic_fetch_add_explicit(v, n, memory_order_relaxed);
}

void
metric_set(metric_value *v, int64_t value)
{
	if (v)
		atomic_store_explicit(v, (uint64_t)value, memory_order_relaxed);
}

void
metric_observe(metric_value *v, const struct metric *metric, uint64_t value)
{
	size_t i = 0;

	if (!v)
		return;
	while (i < metric->n_bounds && value > metric->bounds[i])
		i++;
	metric_add(v + i, 1);
	metric_add(v + metric->n_bounds + 1, value);
}

static int
compare(const void *a, const void *b)
{
	const struct metric_reading *x = a, *y = b;
	int order = str_cmp(x->name, y->name);

	return order ? order : str_cmp(x->labels, y->labels);
}

static struct metric_reading
reading_of(const struct table *t, const struct entry *entry)
{
	struct str labels = str_from(entry->key), name = str_take(&labels, '{');

	return (struct metric_reading){
		.name = name,
		.labels = str_slice(labels, 0, labels.n > 0 ? labels.n - 1 : 0),
		.values = &t->values[entry->first],
		.n = entry->n,
	};
}

bool
metrics_read(
    struct metrics *m, struct arena *a, struct metric_reading **out, size_t *n)
{
	struct table *t = m ? map(m) : NULL;

	*n = 0;
	*out = NULL;
	if (!t)
		return false;
	*out = arena_array(a, ENTRIES, sizeof **out);
	for (uint32_t chain = 0; chain < CHAINS; chain++) {
		const struct entry *entry = first_of(t, chain);

		for (; entry && *n < ENTRIES; entry = entry_at(t, entry->next))
			(*out)[(*n)++] = reading_of(t, entry);
	}
	qsort(*out, *n, sizeof **out, compare);
	return true;
}
