/*
 * A workspace whose ledger was closed goes on in the successor: what it begins
 * with, what the service that had the closed one open does, and what it says
 * between the two.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "domain/pool.h"
#include "domain/workspace.h"
#include "ledger/write/succession_steps.h"
#include "tests/support/desk.h"

#define SECOND "ledger.example.com/acme/sandbox/2"

static const char *const application =
    "{\"name\":\"late\",\"responsible\":\"A. Person\","
    "\"scopes\":[\"workspace:read\"]}";

static const struct ledger_closed closing = { .successor = {
						  SECOND, sizeof SECOND - 1 } };

static void
succeed(struct desk *d)
{
	struct succession_report r;
	struct err e = { 0 };

	if (workspace_succeed(
		d->service, &d->place, STR("tester"), &closing, &r, &e))
		fail_msg("%s", e.detail);
	assert_string_equal(r.closed.origin, "ledger.example.com/acme/sandbox");
	assert_string_equal(r.origin, SECOND);
	assert_int_equal(r.generation, 1);
}

static struct ledger *
acquire(struct desk *d, unsigned closed)
{
	struct place place = d->place;
	struct ledger *l;
	struct err e = { 0 };

	place.closed = closed;
	if (service_acquire(d->service, &place, &l, &e))
		fail_msg("%s", e.detail);
	return l;
}

static void
test_the_workspace_alone_is_carried_over(void **state)
{
	struct desk *d = *state;
	struct json *before = desk_do(d, "workspace.show", "{}"), *now;
	struct json *list;

	desk_do(d, "application.create", application);
	succeed(d);
	now = desk_do(d, "workspace.show", "{}");
	assert_true(
	    str_eq(json_get_str(before, "uid"), json_get_str(now, "uid")));
	assert_true(str_is(json_get_str(now, "name"), "acme"));
	assert_true(
	    str_is(json_get_str(json_get(now, "ledger"), "origin"), SECOND));
	list = json_get(desk_do(d, "application.list", "{}"), "data");
	assert_int_equal(list->n, 0);
	desk_do(d, "application.create", application);
}

static void
test_who_held_the_closed_one_gets_the_successor_next(void **state)
{
	struct desk *d = *state;
	struct ledger *before = acquire(d, 0), *again = acquire(d, 0), *now;

	assert_ptr_equal(before, again);
	succeed(d);
	now = acquire(d, 0);
	assert_ptr_not_equal(now, before);
	assert_true(str_is(ledger_origin(now), SECOND));
	assert_int_equal(service_open_count(d->service), 2);
	service_release(d->service, before);
	assert_int_equal(service_open_count(d->service), 2);
	service_release(d->service, again);
	assert_int_equal(service_open_count(d->service), 1);
	assert_ptr_equal(acquire(d, 0), now);
	service_release(d->service, now);
	service_release(d->service, now);
}

static void
test_an_idle_one_is_closed_at_once(void **state)
{
	struct desk *d = *state;

	service_release(d->service, acquire(d, 0));
	succeed(d);
	service_release(d->service, acquire(d, 0));
	assert_int_equal(service_open_count(d->service), 1);
}

static void
test_the_closed_one_is_a_place_of_its_own(void **state)
{
	struct desk *d = *state;
	struct caller staff;
	struct ledger *old, *now;
	struct reply reply;
	struct err e;

	succeed(d);
	old = acquire(d, 1);
	now = acquire(d, 0);
	assert_ptr_not_equal(old, now);
	assert_true(
	    str_is(ledger_origin(old), "ledger.example.com/acme/sandbox"));
	service_release(d->service, old);
	service_release(d->service, now);
	staff = d->staff;
	staff.place.closed = 1;
	assert_int_equal(
	    desk_call(d, &staff, "ledger.status", "{}", &reply, &e), 0);
	assert_int_equal(
	    desk_call(d, &staff, "application.create", application, &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_ledger_closed);
}

/* Cut short between the ledger that left and the one that comes. */
static void
test_between_the_two_it_is_unavailable(void **state)
{
	struct desk *d = *state;
	struct ledger_options options;
	struct succession s = { .place = &options,
		.actor = { .kind = STR("operator"), .id = STR("tester") },
		.closing = closing };
	struct ledger *l;
	struct reply reply;
	struct err e = { 0 };

	service_release(d->service, acquire(d, 0));
	assert_int_equal(
	    service_ledger_options(d->service, &d->place, d->a, &options, &e),
	    0);
	assert_int_equal(succession_run(&s, 3, &e), 0);
	assert_int_equal(service_acquire(d->service, &d->place, &l, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	assert_int_equal(
	    desk_call(d, &d->staff, "workspace.create", "{}", &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	succeed(d);
	service_release(d->service, acquire(d, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DESK(test_the_workspace_alone_is_carried_over),
		WITH_DESK(test_who_held_the_closed_one_gets_the_successor_next),
		WITH_DESK(test_an_idle_one_is_closed_at_once),
		WITH_DESK(test_the_closed_one_is_a_place_of_its_own),
		WITH_DESK(test_between_the_two_it_is_unavailable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
