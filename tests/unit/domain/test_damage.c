/*
 * The worker's scrub, from a damaged file to the alarm in the ledger and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "domain/damage.h"
#include "domain/jobs/kinds.h"
#include "domain/ledger_ops/group.h"
#include "ledger/base/io.h"
#include "tests/support/event_vector.h"
#include "tests/support/program.h"
#include "tests/support/workshop.h"

#define DAY INT64_C(86400000000)

struct fixture {
	struct workshop shop;
	struct worker worker;
	const char *object, *aside;
};

/* The file of the first batch's events. */
static void
find_object(struct fixture *f)
{
	char *repo = arena_printf(
	    f->shop.a, "%s/var/ledgers/acme/sandbox/ledger.git", f->shop.dir);
	char *oid = program_output(f->shop.a,
	    "git -C %s rev-parse $(git -C %s rev-list main | tail -n 1)"
	    ":events",
	    repo, repo);

	f->object =
	    arena_printf(f->shop.a, "%s/objects/%.2s/%s", repo, oid, oid + 2);
	f->aside = arena_printf(f->shop.a, "%s/aside", f->shop.dir);
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	workshop_open(&f->shop, 8760);
	f->worker = workshop_hire(&f->shop, "worker-one");
	find_object(f);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	service_release(f->shop.service, f->worker.ledger);
	workshop_close(&f->shop);
	free(f);
	return 0;
}

static void
round_of_work(struct fixture *f)
{
	struct err e = { 0 };
	int rc;

	assert_int_equal(worker_schedule(&f->worker, f->shop.a, &e), 0);
	while ((rc = worker_run_one(&f->worker, f->shop.a, &e)) == 1)
		;
	if (rc)
		fail_msg("%s", e.detail);
}

static int64_t
number(struct fixture *f, const char *sql)
{
	struct reading r;
	struct err e = { 0 };
	int64_t n;

	assert_int_equal(ledger_read_begin(f->worker.ledger, &r, &e), 0);
	if (db_get_int(r.db, &n, 0, &e, sql, ""))
		fail_msg("%s", e.detail);
	ledger_read_end(&r);
	return n;
}

#define SCRUBS  "SELECT count(*) FROM scrub"
#define DAMAGES "SELECT count(*) FROM damage"
#define OPEN    "SELECT count(*) FROM damage WHERE mended_at IS NULL"
#define JOBS    "SELECT count(*) FROM job WHERE kind = 'ledger.scrub'"

static void
test_vectors(void **state)
{
	(void)state;
	event_vector_check(&event_ledger_damage_found);
	event_vector_check(&event_ledger_damage_mended);
	event_vector_check(&event_ledger_scrubbed);
}

static void
test_schedule(void **state)
{
	struct fixture *f = *state;

	round_of_work(f);
	f->shop.clock.ahead_us += 29 * DAY;
	round_of_work(f);
	assert_int_equal(number(f, JOBS), 0);
	f->shop.clock.ahead_us += 2 * DAY;
	round_of_work(f);
	assert_int_equal(number(f, SCRUBS), 1);
	round_of_work(f);
	f->shop.clock.ahead_us += 29 * DAY;
	round_of_work(f);
	assert_int_equal(number(f, SCRUBS), 1);
	f->shop.clock.ahead_us += 2 * DAY;
	round_of_work(f);
	assert_int_equal(number(f, SCRUBS), 2);
	assert_int_equal(number(f, DAMAGES), 0);
}

static void
scrub(struct fixture *f)
{
	f->shop.clock.ahead_us += 31 * DAY;
	round_of_work(f);
}

/* Told once, however often it is seen; mended, and damaged again, once more. */
static void
test_alarm(void **state)
{
	struct fixture *f = *state;

	round_of_work(f);
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(rename(f->object, f->aside), 0);
		scrub(f);
		assert_int_equal(number(f, DAMAGES), i);
		assert_int_equal(number(f, OPEN), 1);
		scrub(f);
		assert_int_equal(number(f, DAMAGES), i);
		assert_int_equal(number(f, OPEN), 1);
		assert_int_equal(rename(f->aside, f->object), 0);
		scrub(f);
		assert_int_equal(number(f, DAMAGES), i);
		assert_int_equal(number(f, OPEN), 0);
	}
	assert_int_equal(number(f, SCRUBS), 6);
	assert_int_equal(
	    number(f, "SELECT count(*) FROM scrub WHERE damaged > 0"), 4);
}

/* A service that is stopping ends the slice; the next goes on. */
static void
test_goes_on(void **state)
{
	struct fixture *f = *state;
	char *place = arena_printf(
	    f->shop.a, "%s/var/ledgers/acme/sandbox/scrub", f->shop.dir);

	round_of_work(f);
	service_stop(f->shop.service);
	scrub(f);
	assert_int_equal(number(f, JOBS), 1);
	assert_int_equal(number(f, SCRUBS), 0);
	assert_int_equal(access(place, F_OK), 0);
	service_release(f->shop.service, f->worker.ledger);
	service_free(f->shop.service);
	workshop_start(&f->shop);
	f->worker = workshop_hire(&f->shop, "worker-one");
	round_of_work(f);
	assert_int_equal(number(f, SCRUBS), 1);
	assert_true(number(f, "SELECT events FROM scrub") > 0);
	/* What the file says of a scrub that is recorded is over. */
	scrub(f);
	assert_int_equal(number(f, SCRUBS), 2);
	assert_int_equal(unlink(place), 0);
	scrub(f);
	assert_int_equal(number(f, SCRUBS), 3);
}

/* Whatever the file holds, nothing is passed over for long. */
static void
test_strange_place(void **state)
{
	static const char *const texts[] = { "", "{}", "[1]", "{\"pack\":1}" };
	struct fixture *f = *state;
	char *place = arena_printf(
	    f->shop.a, "%s/var/ledgers/acme/sandbox/scrub", f->shop.dir);
	struct err e = { 0 };

	round_of_work(f);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(
		    io_write_file(place, str_from(texts[i]), 0600, &e), 0);
		scrub(f);
		assert_int_equal(number(f, SCRUBS), i + 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test_setup_teardown(
		    test_schedule, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_alarm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    test_goes_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    test_strange_place, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
