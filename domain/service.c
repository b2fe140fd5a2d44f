#include "domain/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "domain/catalog.h"
#include "domain/limits.h"
#include "ledger/base/log.h"
#include "ledger/base/metrics.h"
#include "ledger/base/private.h"
#include "ledger/write/succession.h"

const struct err_kind err_capacity = { "reduced-capacity",
	"As much is under way as may be", 503, true,
	"Try again after the time in Retry-After; an operator raises "
	"max_ledgers, or threads for names." };

/* A slot is busy while its ledger is opened or closed without the lock; who
 * wants that place waits. */
enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_OPEN };

struct slot {
	enum slot_state state;
	char workspace[40], environment[16]; /* no name: it was moved aside */
	unsigned closed;
	struct ledger *ledger;
	size_t users;
	uint64_t used; /* turn of the service's counter */
};

struct service {
	_Atomic(const struct config *) config;
	struct arena *arena; /* all configurations that were in force */
	struct metrics *metrics;
	const struct clock *clock;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot *slots;
	size_t n;
	uint64_t counter;
	atomic_bool stopping;
	bool serves_one;
	struct limits_store *limits;
};

/* Each key in it is still judged by itself, so what is there works on. */
static void
warn_of_keys(struct arena *a, const struct config *config)
{
	struct err e = { 0 };

	if (private_check(arena_cstr(a, config->keys), &e))
		log_line(LOG_WARN, "service", "keys: %s", e.detail);
}

int
service_new(const struct config *config, struct service **out, struct err *e)
{
	struct service *s = calloc(1, sizeof *s);
	struct arena *a = arena_new();

	if (config->max_ledgers > 0)
		s->n = (size_t)config->max_ledgers;
	s->slots = calloc(s->n ? s->n : 1, sizeof *s->slots);
	s->limits = limits_store_new(config->state);
	if (!s->slots || !s->limits) {
		limits_store_free(s->limits);
		free(s->slots);
		free(s);
		arena_free(a);
		return err_set(e, &err_unavailable, "no memory");
	}
	s->arena = a;
	s->clock = &clock_system;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	service_put_config(s, config);
	warn_of_keys(a, config);
	s->metrics = metrics_new(
	    arena_printf(a, "%.*s/metrics", STR_ARGS(config->state)));
	*out = s;
	return 0;
}

void
service_free(struct service *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (s->slots[i].ledger)
			ledger_close(s->slots[i].ledger);
	limits_store_free(s->limits);
	metrics_free(s->metrics);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	arena_free(s->arena);
	free(s->slots);
	free(s);
}

void
service_serve_one(struct service *s)
{
	s->serves_one = true;
}

const struct config *
service_config(const struct service *s)
{
	return atomic_load(&s->config);
}

void
service_put_config(struct service *s, const struct config *config)
{
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->config, config_copy(s->arena, config));
	pthread_mutex_unlock(&s->lock);
}

struct metrics *
service_metrics(struct service *s)
{
	return s->metrics;
}

void
service_stop(struct service *s)
{
	atomic_store(&s->stopping, true);
}

bool
service_is_stopping(const struct service *s)
{
	return atomic_load(&s->stopping);
}

struct instant
service_now(const struct service *s)
{
	return s->clock->wall(s->clock);
}

struct instant
service_steady(const struct service *s)
{
	return s->clock->steady(s->clock);
}

struct limits_store *
service_limits(struct service *s)
{
	return s->limits;
}

void
service_set_clock(struct service *s, const struct clock *clock)
{
	s->clock = clock;
}

static bool
place_is_valid(const struct place *place)
{
	return workspace_name_is_valid(place->workspace) &&
	       (str_is(place->environment, "sandbox") ||
		   str_is(place->environment, "production"));
}

/* Where a closed ledger lies, and its keys: ledger/write/succession.h. */
static const char *
closed_part(const struct place *place, struct arena *a)
{
	return place->closed > 0 ? arena_printf(a, ".closed/%u", place->closed)
				 : "";
}

int
service_ledger_options(struct service *s, const struct place *place,
    struct arena *a, struct ledger_options *out, struct err *e)
{
	const struct config *config = service_config(s);

	if (!place_is_valid(place))
		return err_set(e, &err_not_found, "there is no such workspace");
	*out = (struct ledger_options){
		.dir = arena_printf(a, "%.*s/ledgers/%.*s/%.*s%s",
		    STR_ARGS(config->state), STR_ARGS(place->workspace),
		    STR_ARGS(place->environment), closed_part(place, a)),
		.keys_dir = arena_printf(a, "%.*s/%.*s/%.*s%s",
		    STR_ARGS(config->keys), STR_ARGS(place->workspace),
		    STR_ARGS(place->environment), closed_part(place, a)),
		.origin = arena_strf(a, "%.*s/%.*s/%.*s",
		    STR_ARGS(config->origin_host), STR_ARGS(place->workspace),
		    STR_ARGS(place->environment)),
		.views = catalog_views(),
		.clock = s->clock,
		.free_floor = (uint64_t)config->free_floor,
		.metrics = s->metrics,
		.brief = s->serves_one,
	};
	return 0;
}

int
service_key_file(struct service *s, const struct place *place, const char *name,
    struct arena *a, const char **path, struct err *e)
{
	struct ledger_options options;

	if (service_ledger_options(s, place, a, &options, e))
		return -1;
	*path = arena_printf(a, "%s/%s", options.keys_dir, name);
	return 0;
}

static bool
slot_is(const struct slot *slot, const struct place *place)
{
	return slot->state != SLOT_FREE &&
	       str_is(place->workspace, slot->workspace) &&
	       str_is(place->environment, slot->environment) &&
	       place->closed == slot->closed;
}

static struct slot *
find_slot(struct service *s, const struct place *place)
{
	for (size_t i = 0; i < s->n; i++)
		if (slot_is(&s->slots[i], place))
			return &s->slots[i];
	return NULL;
}

/* A free slot, or the idle one that was used the longest ago. */
static struct slot *
pick_slot(struct service *s)
{
	struct slot *oldest = NULL;

	for (size_t i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];

		if (slot->state == SLOT_FREE)
			return slot;
		if (slot->state == SLOT_OPEN && slot->users == 0 &&
		    (!oldest || slot->used < oldest->used))
			oldest = slot;
	}
	return oldest;
}

/* Called with the lock, which is let go meanwhile. The slot keeps its old name
 * until that ledger is closed: nobody opens it a second time before. */
static int
fill_slot(struct service *s, struct slot *slot, const struct place *place,
    const struct ledger_options *options, struct err *e)
{
	struct ledger *old = slot->ledger, *ledger = NULL;
	struct err why = { 0 };
	int result;

	slot->ledger = NULL;
	slot->state = SLOT_BUSY;
	if (old) {
		pthread_mutex_unlock(&s->lock);
		ledger_close(old);
		pthread_mutex_lock(&s->lock);
		if (find_slot(s, place)) { /* somebody else was faster */
			slot->state = SLOT_FREE;
			pthread_cond_broadcast(&s->changed);
			return 0;
		}
	}
	memset(slot->workspace, 0, sizeof slot->workspace);
	memset(slot->environment, 0, sizeof slot->environment);
	memcpy(slot->workspace, place->workspace.p, place->workspace.n);
	memcpy(slot->environment, place->environment.p, place->environment.n);
	slot->closed = place->closed;
	pthread_mutex_unlock(&s->lock);
	/* The ledger is there: whatever is wrong with it is no client's. */
	result = ledger_open(options, &ledger, &why);
	if (result)
		err_own(e, &err_unavailable, &why);
	pthread_mutex_lock(&s->lock);
	slot->ledger = ledger;
	slot->users = 0;
	slot->state = result ? SLOT_FREE : SLOT_OPEN;
	pthread_cond_broadcast(&s->changed);
	return result;
}

static struct ledger *
use_slot(struct service *s, struct slot *slot)
{
	slot->users++;
	slot->used = ++s->counter;
	return slot->ledger;
}

/* Its ledger was moved aside: nobody finds it any more, and the last of its
 * users closes it. Called with the lock, which is let go meanwhile. */
static void
abandon_slot(struct service *s, struct slot *slot)
{
	struct ledger *ledger = use_slot(s, slot);

	slot->workspace[0] = '\0';
	pthread_mutex_unlock(&s->lock);
	service_release(s, ledger);
	pthread_mutex_lock(&s->lock);
}

static int
acquire_locked(struct service *s, const struct place *place,
    const struct ledger_options *options, struct ledger **out, struct err *e)
{
	for (;;) {
		struct slot *slot = find_slot(s, place);

		if (slot && slot->state == SLOT_OPEN &&
		    ledger_is_moved(slot->ledger)) {
			abandon_slot(s, slot);
			continue;
		}
		if (slot && slot->state == SLOT_OPEN) {
			*out = use_slot(s, slot);
			return 0;
		}
		if (slot) {
			pthread_cond_wait(&s->changed, &s->lock);
			continue;
		}
		slot = pick_slot(s);
		if (!slot)
			return err_set(e, &err_capacity,
			    "as many ledgers are in use as may be open");
		if (fill_slot(s, slot, place, options, e))
			return -1;
	}
}

/* The path is there: 1, it is not: 0. Where it cannot be looked at nobody
 * knows, which is not the client's fault. */
static int
look_at(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) == 0)
		return 1;
	if (errno == ENOENT)
		return 0;
	if (errno == EACCES)
		return err_errno(e, &err_unavailable,
		    "cannot look at %s, run as the user that the services run"
		    " as",
		    path);
	return err_errno(e, &err_unavailable, "cannot look at %s", path);
}

/* Before a slot is spent on it. */
static int
ledger_exists(struct service *s, const struct ledger_options *options,
    struct arena *a, struct err *e)
{
	const char *state = arena_cstr(a, service_config(s)->state);
	int has_state = look_at(state, e);

	if (has_state == 0)
		return err_set(e, &err_unavailable,
		    "there is no folder %s, where the ledgers are", state);
	return has_state < 0
		   ? -1
		   : look_at(arena_printf(a, "%s/ledger.git", options->dir), e);
}

int
service_acquire(struct service *s, const struct place *place,
    struct ledger **out, struct err *e)
{
	struct arena *a = arena_new();
	struct ledger_options options = { 0 };
	int there, result = -1;

	*out = NULL;
	if (service_ledger_options(s, place, a, &options, e))
		goto out;
	/* Asked of one that is there, too, so that the time of a 401 does not
	 * tell which workspaces there are. */
	there = ledger_exists(s, &options, a, e);
	if (there < 0 || succession_check(options.dir, e))
		goto out;
	if (there == 0) {
		err_set(e, &err_not_found, "there is no ledger %.*s/%.*s",
		    STR_ARGS(place->workspace), STR_ARGS(place->environment));
		goto out;
	}
	pthread_mutex_lock(&s->lock);
	result = acquire_locked(s, place, &options, out, e);
	pthread_mutex_unlock(&s->lock);
out:
	arena_free(a);
	return result;
}

void
service_release(struct service *s, struct ledger *ledger)
{
	struct ledger *gone = NULL;

	if (!ledger)
		return;
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];

		if (slot->ledger != ledger || slot->users == 0)
			continue;
		slot->users--;
		if (slot->users > 0 || slot->workspace[0])
			continue;
		gone = slot->ledger;
		slot->ledger = NULL;
		slot->state = SLOT_FREE;
	}
	pthread_mutex_unlock(&s->lock);
	ledger_close(gone);
}

struct ledger *
service_acquire_decoy(struct service *s)
{
	struct ledger *ledger = NULL;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n && !ledger; i++)
		if (s->slots[i].state == SLOT_OPEN) {
			s->slots[i].users++; /* leaves its age alone */
			ledger = s->slots[i].ledger;
		}
	pthread_mutex_unlock(&s->lock);
	return ledger;
}

size_t
service_open_count(struct service *s)
{
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n; i++)
		n += s->slots[i].state == SLOT_OPEN;
	pthread_mutex_unlock(&s->lock);
	return n;
}
