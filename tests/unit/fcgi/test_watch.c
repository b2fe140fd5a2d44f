#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "fcgi/watch.h"
#include "tests/support/desk.h"

#define DAY_US INT64_C(86400000000)

static const uint64_t bounds[] = { 500, 2500000 };
static const struct metric visits = {
	.name = "visits_total", .help = "Visits", .kind = METRIC_COUNTER
};
static const struct metric delay = { .name = "delay_seconds",
	.help = "Delay",
	.kind = METRIC_HISTOGRAM,
	.bounds = bounds,
	.n_bounds = 2,
	.micro = true };
static const struct metric level = {
	.name = "level", .help = "Level", .kind = METRIC_GAUGE, .micro = true
};

static void
expect(struct buf *b, const char *wanted)
{
	assert_false(buf_failed(b));
	assert_int_equal(b->n, strlen(wanted));
	assert_memory_equal(b->p, wanted, b->n);
	buf_reset(b);
}

static void
test_text_formats(void **state)
{
	metric_value one[] = { 7 }, four[] = { 1, 2, 3, 4000001 };
	struct metric_reading all[] = {
		{ STR("delay_seconds"), STR("door=\"n\""), four, 4 },
		{ STR("delay_seconds"), STR("odd"), four, 3 },
		{ STR("visits"), STR(""), one, 1 },
		{ STR("visits_total"), STR(""), one, 1 },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 65536);
	metrics_text_family(&b, &visits, all, 4, false);
	expect(&b, "# HELP visits_total Visits\n"
		   "# TYPE visits_total counter\nvisits_total 7\n");
	metrics_text_family(&b, &visits, all, 4, true);
	expect(&b, "# HELP visits Visits\n"
		   "# TYPE visits counter\nvisits_total 7\n");
	metrics_text_family(&b, &delay, all, 4, false);
	expect(&b, "# HELP delay_seconds Delay\n"
		   "# TYPE delay_seconds histogram\n"
		   "delay_seconds_bucket{door=\"n\",le=\"0.0005\"} 1\n"
		   "delay_seconds_bucket{door=\"n\",le=\"2.5\"} 3\n"
		   "delay_seconds_bucket{door=\"n\",le=\"+Inf\"} 6\n"
		   "delay_seconds_sum{door=\"n\"} 4.000001\n"
		   "delay_seconds_count{door=\"n\"} 6\n");
	metrics_text_one(&b, &level, "", -1500000, false);
	expect(&b, "# HELP level Level\n# TYPE level gauge\nlevel -1.5\n");
	metrics_text_one(&b, &level, "a=\"b\"", 3000000, true);
	expect(&b, "# HELP level Level\n# TYPE level gauge\n"
		   "level{a=\"b\"} 3.0\n");
	buf_fini(&b);
}

static void
expect_text(const char *in, size_t max, const char *wanted)
{
	struct arena *a = arena_new();
	struct str out = log_text(a, str_from(in), max);

	assert_int_equal(out.n, strlen(wanted));
	assert_memory_equal(out.p, wanted, out.n);
	arena_free(a);
}

static void
test_log_text(void **state)
{
	(void)state;
	expect_text("/api/v2/workspace", 100, "/api/v2/workspace");
	expect_text("/a/pby_test_acme_4Fz0aQ7x_abc/b", 100, "/a/*/b");
	expect_text("pbyt_live_x-_=y pbyc_test_z", 100, "* *");
	expect_text("/a/whsec_AbC+d/e= b", 100, "/a/* b");
	expect_text("pbypass pby", 100, "pbypass pby");
	expect_text("a\xff"
		    "b\xc3",
	    100, "a?b?");
	expect_text("ab\xc3\xa4"
		    "c",
	    3, "ab");
	expect_text("ab\xc3\xa4"
		    "c",
	    4, "ab\xc3\xa4");
	expect_text("", 4, "");
	expect_text("a\xc2\x85"
		    "b\xc2\x9b"
		    "31m\xc2\xa0",
	    100, "a?b?31m\xc2\xa0");
	expect_text("\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf\xe2\x81\xa6", 100,
	    "??\xe2\x80\xaf?");
}

static struct instant
yesterday(const struct clock *c)
{
	(void)c;
	return (struct instant){ clock_system.wall(&clock_system).us - DAY_US };
}

static struct instant
steady(const struct clock *c)
{
	(void)c;
	return clock_system.steady(&clock_system);
}

/* Looks as a process of its own does; only this check may fail, or none. */
static void
expect_readiness(const struct desk *d, int64_t free_floor,
    const struct clock *clock, const char *failing)
{
	struct config config = *service_config(d->service);
	struct readiness r = { 0 };
	struct service *s;
	struct err e = { 0 };

	config.free_floor = free_floor;
	assert_int_equal(service_new(&config, &s, &e), 0);
	if (clock)
		service_set_clock(s, clock);
	readiness_check(s, &r);
	assert_int_equal(r.ready, failing == NULL);
	for (size_t i = 0; i < READINESS_CHECKS; i++) {
		bool fails = failing && strcmp(r.checks[i].name, failing) == 0;

		assert_int_equal(r.checks[i].ok, !fails);
		assert_int_equal(strcmp(r.checks[i].detail, "ok") == 0, !fails);
	}
	service_free(s);
}

static void
move_head(const struct desk *d, const char *workspace, bool away)
{
	char path[2][256];

	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof path[i],
		    "%s/var/ledgers/%s/sandbox/ledger.git/HEAD%s", d->dir,
		    workspace, i ? ".away" : "");
	assert_int_equal(rename(path[!away], path[away]), 0);
}

static void
test_readiness(void **state)
{
	static const struct clock behind = { yesterday, steady };
	struct desk *d = *state;

	desk_move(d, "beta");
	expect_readiness(d, 1, NULL, NULL);
	expect_readiness(d, INT64_C(1) << 60, NULL, "space");
	expect_readiness(d, 1, &behind, "clock");
	/* A damaged ledger does not stop the others. */
	move_head(d, "acme", true);
	expect_readiness(d, 1, NULL, NULL);
	move_head(d, "beta", true);
	expect_readiness(d, 1, NULL, "ledgers");
	move_head(d, "acme", false);
	move_head(d, "beta", false);
	expect_readiness(d, 1, NULL, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_formats),
		cmocka_unit_test(test_log_text),
		WITH_DESK(test_readiness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
