/*
 * Whether requests can be served. Anybody may ask, and nobody learns a name,
 * a path or a number; the log has the cause.
 */
#include <stdlib.h>
#include <unistd.h>

#include "fcgi/watch.h"
#include "ledger/base/io.h"
#include "ledger/base/log.h"

#define PLACES_TRIED 8
/* Before this the program was not written: 2026-01-01. */
#define EARLIEST_US INT64_C(1767225600000000)

enum { STATE, LEDGERS, SPACE, CLOCK };

static void
say(struct readiness *r, int i, const char *name, bool ok, const char *detail)
{
	r->checks[i].name = name;
	r->checks[i].ok = ok;
	r->checks[i].detail = ok ? "ok" : detail;
	r->ready = r->ready && ok;
}

static void
check_state(const char *state, struct readiness *r)
{
	say(r, STATE, "state", access(state, R_OK | W_OK | X_OK) == 0,
	    "the state's directory cannot be written");
}

static void
check_space(const char *state, uint64_t floor, struct readiness *r)
{
	uint64_t room = 0;
	bool known = io_free_bytes(state, &room, NULL) == 0;

	say(r, SPACE, "space", known && room >= floor,
	    "there is too little free space; writes are refused");
}

/* One that is damaged does not stop the others: it is enough that one of a few
 * opens. *clock: 1 plausible, 0 not, -1 nobody asked. */
static bool
open_one(struct service *s, const struct place *place, int *clock)
{
	struct ledger *ledger;
	struct reading reading;
	struct err e = { 0 };

	if (service_acquire(s, place, &ledger, &e) ||
	    ledger_read_begin(ledger, &reading, &e)) {
		log_line(LOG_WARN, "readiness", "%.*s/%.*s: %s",
		    STR_ARGS(place->workspace), STR_ARGS(place->environment),
		    e.detail);
		service_release(s, ledger);
		return false;
	}
	*clock = ledger_read_clock(&reading, &e) == 0;
	if (!*clock)
		log_line(LOG_WARN, "readiness", "%s", e.detail);
	ledger_read_end(&reading);
	service_release(s, ledger);
	return true;
}

static void
check_ledgers(struct service *s, struct arena *a, struct readiness *r)
{
	struct place *places;
	struct err e = { 0 };
	bool opened = false;
	int clock = -1;
	size_t n = 0;

	if (service_places(s, a, &places, &n, &e))
		log_line(LOG_WARN, "readiness", "%s", e.detail);
	for (size_t i = 0; i < n && i < PLACES_TRIED && !opened; i++)
		opened = open_one(s, &places[i], &clock);
	say(r, LEDGERS, "ledgers", !e.kind && (opened || n == 0),
	    "no ledger can be opened");
	say(r, CLOCK, "clock",
	    clock != 0 && clock_system.wall(&clock_system).us > EARLIEST_US,
	    "the clock is not plausible; writes are refused");
}

void
readiness_check(struct service *s, struct readiness *r)
{
	const struct config *config = service_config(s);
	struct arena *a = arena_new();
	const char *state = arena_cstr(a, config->state);

	r->ready = true;
	check_state(state, r);
	check_ledgers(s, a, r);
	check_space(state, (uint64_t)config->free_floor, r);
	r->at_us = clock_system.steady(&clock_system).us;
	arena_free(a);
}
