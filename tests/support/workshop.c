#include "tests/support/workshop.h"

#include <stdio.h>
#include <stdlib.h>

#include "domain/call.h"
#include "domain/catalog.h"

const struct place workshop_place = { { "acme", 4 }, { "sandbox", 7 }, 0 };

static _Noreturn void
die(const char *what, const struct err *e)
{
	fprintf(stderr, "workshop: %s: %s\n", what, e->detail);
	abort();
}

static struct instant
put_forward(struct instant now, const struct clock *c)
{
	now.us += ((const struct fake_clock *)(const void *)c)->ahead_us;
	return now;
}

static struct instant
fake_wall(const struct clock *c)
{
	return put_forward(clock_system.wall(&clock_system), c);
}

static struct instant
fake_steady(const struct clock *c)
{
	return put_forward(clock_system.steady(&clock_system), c);
}

static void
create_workspace(struct workshop *w)
{
	struct caller staff = { .kind = CALLER_OPERATOR,
		.place = workshop_place,
		.operator_name = STR("tester") };
	struct call call = {
		.op = catalog_by_id(STR("workspace.create")),
		.caller = &staff,
		.input = { .flat = true },
		.request = uid_new(),
	};
	struct reply reply;
	struct err e = { 0 };

	if (call_run(w->service, &call, w->a, &reply, &e))
		die("workspace.create", &e);
}

void
workshop_start(struct workshop *w)
{
	struct err e = { 0 };

	if (service_new(&w->config, &w->service, &e))
		die("service", &e);
	service_set_clock(w->service, &w->clock.base);
}

void
workshop_open(struct workshop *w, int64_t verify_hours)
{
	*w = (struct workshop){ .dir = "/tmp/probity-workshop-XXXXXX",
		.clock = { .base = { fake_wall, fake_steady } } };
	if (!mkdtemp(w->dir))
		die("mkdtemp", &(struct err){ .detail = "failed" });
	w->a = arena_new();
	w->config = (struct config){
		.state = arena_strf(w->a, "%s/var", w->dir),
		.keys = arena_strf(w->a, "%s/keys", w->dir),
		.origin_host = STR("ledger.example.com"),
		.max_ledgers = 4,
		.free_floor = 1,
		.pack_threshold = 100000,
		.verify_hours = verify_hours,
		.scrub_days = 30,
		.scrub_mib_per_second = 1000,
		.mirror_seconds = 30,
	};
	workshop_start(w);
	create_workspace(w);
}

void
workshop_close(struct workshop *w)
{
	service_free(w->service);
	if (system(arena_printf(w->a, "rm -rf '%s'", w->dir)) != 0)
		die(w->dir, &(struct err){ .detail = "not removed" });
	arena_free(w->a);
}

struct worker
workshop_hire(struct workshop *w, const char *name)
{
	struct worker worker = { .service = w->service,
		.place = workshop_place,
		.name = str_from(name) };
	struct err e = { 0 };

	if (service_acquire(w->service, &workshop_place, &worker.ledger, &e))
		die("ledger", &e);
	return worker;
}
