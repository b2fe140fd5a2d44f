#include "domain/limits/months.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/base/shared.h"

#define TABLE_NAME "probity-limits/1"
#define AGAIN_US   60000000

struct mapped {
	struct month month;
	struct shared shared;
	struct mapped *next;
};

struct limits_store {
	struct arena *arena;
	const char *dir;
	_Atomic(struct mapped *) current;
	pthread_mutex_t lock;
	struct mapped *all; /* under the lock, from here on */
	int64_t failed_us;  /* steady; 0: it did not */
	struct err_kind const *failure;
};

struct limits_store *
limits_store_new(struct str state)
{
	struct limits_store *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->arena = arena_new();
	s->dir = arena_printf(s->arena, "%.*s/limits", STR_ARGS(state));
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void
limits_store_free(struct limits_store *s)
{
	if (!s)
		return;
	for (struct mapped *m = s->all; m; m = m->next)
		shared_close(&m->shared);
	pthread_mutex_destroy(&s->lock);
	arena_free(s->arena);
	free(s);
}

static struct instant
first_of(int year, int month)
{
	char text[64];
	struct instant at = { 0 };

	snprintf(
	    text, sizeof text, "%04d-%02d-01T00:00:00.000000Z", year, month);
	(void)instant_parse(str_from(text), &at);
	return at;
}

struct month
month_of(struct instant at)
{
	char text[INSTANT_TEXT + 1];
	struct month m = { .name = "" };
	int year, month;

	instant_format(at, text);
	memcpy(m.name, text, sizeof m.name - 1);
	year = (text[0] - '0') * 1000 + (text[1] - '0') * 100 +
	       (text[2] - '0') * 10 + text[3] - '0';
	month = (text[5] - '0') * 10 + text[6] - '0';
	m.begin = first_of(year, month);
	m.end = month < 12 ? first_of(year, month + 1) : first_of(year + 1, 1);
	return m;
}

static bool
is_of(const struct mapped *m, const struct month *month)
{
	return memcmp(m->month.name, month->name, sizeof month->name) == 0;
}

static const char *
path_of(const struct limits_store *s, const char *name, char *out, size_t size)
{
	int n = snprintf(out, size, "%s/%s", s->dir, name);

	return n > 0 && (size_t)n < size ? out : "";
}

/* A reader makes no file: it may be another user's who runs it. */
static int
map(struct limits_store *s, const struct month *month, bool make,
    struct mapped **out, struct err *e)
{
	char path[4096];
	struct mapped *m;
	struct shared shared;

	*out = NULL;
	path_of(s, month->name, path, sizeof path);
	if (!make && access(path, F_OK) != 0)
		return 0;
	if (make && io_make_dirs(s->dir, 0700, e))
		return -1;
	if (shared_open(
		path, sizeof(struct limit_table), TABLE_NAME, &shared, e))
		return -1;
	m = ARENA_NEW(s->arena, struct mapped);
	*m = (struct mapped){ *month, shared, s->all };
	s->all = m;
	*out = m;
	return 0;
}

static bool
failed_lately(const struct limits_store *s)
{
	return s->failed_us > 0 &&
	       clock_system.steady(&clock_system).us < s->failed_us + AGAIN_US;
}

static struct mapped *
find_locked(
    struct limits_store *s, const struct month *month, bool make, struct err *e)
{
	struct mapped *m = s->all;

	while (m && !is_of(m, month))
		m = m->next;
	if (m)
		return m;
	if (failed_lately(s)) {
		err_set(e, s->failure,
		    "the table of request limits could not "
		    "be had a moment ago");
		return NULL;
	}
	s->failed_us = 0;
	if (map(s, month, make, &m, e)) {
		s->failure = e->kind;
		s->failed_us = clock_system.steady(&clock_system).us;
		log_line(LOG_ERROR, "limits",
		    "requests pass uncounted, for a minute at least: %s",
		    e->detail);
	}
	return m;
}

struct limit_table *
limits_store_table(
    struct limits_store *s, const struct month *month, bool make, struct err *e)
{
	struct mapped *m = atomic_load(&s->current);

	if (m && is_of(m, month))
		return m->shared.p;
	pthread_mutex_lock(&s->lock);
	m = find_locked(s, month, make, e);
	if (m)
		atomic_store(&s->current, m);
	pthread_mutex_unlock(&s->lock);
	return m ? m->shared.p : NULL;
}

static int
sync_file(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return errno == ENOENT
			   ? 0
			   : err_errno(e, &err_unavailable, "%s", path);
	if (fdatasync(fd))
		rc = err_errno(e, &err_unavailable, "%s", path);
	close(fd);
	return rc;
}

static bool
is_month(const char *name)
{
	for (int i = 0; i < 7; i++)
		if (i == 4 ? name[i] != '-' : name[i] < '0' || name[i] > '9')
			return false;
	return name[7] == '\0';
}

static void
remove_before(const struct limits_store *s, const char *oldest)
{
	DIR *d = opendir(s->dir);
	struct dirent *entry;
	char path[4096];

	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while (d && (entry = readdir(d)))
		if (is_month(entry->d_name) &&
		    strcmp(entry->d_name, oldest) < 0)
			unlink(path_of(s, entry->d_name, path, sizeof path));
	if (d)
		closedir(d);
}

int
limits_store_keep(
    struct limits_store *s, const struct month *month, struct err *e)
{
	struct month last = month_of((struct instant){ month->begin.us - 1 });
	char path[4096];

	if (access(s->dir, F_OK) != 0)
		return 0;
	if (sync_file(path_of(s, month->name, path, sizeof path), e) ||
	    io_fsync_dir(s->dir, e))
		return -1;
	remove_before(s, last.name);
	return 0;
}
