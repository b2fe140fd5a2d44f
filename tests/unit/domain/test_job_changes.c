/*
 * job show, job retry, job cancel: each order of them with a worker's own
 * steps between, and what the read model made anew says of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/jobs/kinds.h"
#include "domain/ledger_ops/group.h"
#include "tests/support/desk.h"
#include "tests/support/workshop.h"

#define SECOND INT64_C(1000000)

struct fixture {
	struct workshop shop;
	struct desk desk; /* over the workshop's service */
	struct worker worker;
	struct uid job;
	struct err e;
};

static int
queue_one(struct context *c, void *arg, struct err *e)
{
	return job_queue(c, &job_ledger_pack, NULL, arg, e);
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct worker_decision d = { .decide = queue_one, .arg = &f->job };
	struct receipt receipt;

	workshop_open(&f->shop, 24);
	f->worker = workshop_hire(&f->shop, "worker-one");
	f->desk = (struct desk){ .a = f->shop.a,
		.service = f->shop.service,
		.place = workshop_place,
		.staff = { .kind = CALLER_OPERATOR,
		    .place = workshop_place,
		    .operator_name = STR("tester") } };
	assert_int_equal(
	    worker_submit(&f->worker, f->shop.a, &d, &receipt, &f->e), 0);
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

static const char *
uid_of(struct fixture *f)
{
	char text[UID_TEXT + 1];

	uid_format(f->job, text);
	return arena_printf(f->shop.a, "%s", text);
}

static const struct json *
change(struct fixture *f, const char *id, int status)
{
	const char *input = arena_printf(f->shop.a,
	    "{\"uid\":\"%s\",\"reason\":\"the disk was exchanged\"}",
	    uid_of(f));
	struct reply reply;
	int failed =
	    desk_call(&f->desk, &f->desk.staff, id, input, &reply, &f->e);

	assert_int_equal(failed ? f->e.kind->status : 200, status);
	return failed ? NULL : reply.body;
}

static const struct json *
show(struct fixture *f)
{
	return desk_do(&f->desk, "job.show",
	    arena_printf(f->shop.a, "{\"uid\":\"%s\"}", uid_of(f)));
}

static void
expect_status(struct fixture *f, const char *status, size_t attempts)
{
	const struct json *job = show(f);

	assert_true(str_is(json_get_str(job, "status"), status));
	assert_int_equal(json_get(job, "attempts")->n, attempts);
}

static bool
claim(struct fixture *f, struct claim *out)
{
	int claimed = worker_claim(&f->worker, f->shop.a, out, &f->e);

	assert_true(claimed >= 0);
	return claimed == 1;
}

static bool
settle(struct fixture *f, const struct claim *c, const struct err *fault)
{
	bool ended;

	assert_int_equal(worker_settle(&f->worker, f->shop.a, c,
			     json_object(f->shop.a), fault, &ended, &f->e),
	    0);
	return ended;
}

/* All its attempts of one round; their number before it. */
static void
fail_all(struct fixture *f, int64_t earlier)
{
	struct err fault = { 0 };
	struct claim c;

	err_set(&fault, &err_unavailable, "no disk");
	for (int64_t i = 1; i <= job_ledger_pack.attempts; i++) {
		assert_true(claim(f, &c));
		assert_int_equal(c.job.attempt, earlier + i);
		assert_true(settle(f, &c, &fault));
		f->shop.clock.ahead_us += 601 * SECOND;
	}
	assert_false(claim(f, &c));
}

static void
test_queued_is_cancelled(void **state)
{
	struct fixture *f = *state;
	const struct json *reply;
	struct claim c;

	change(f, "job.retry", 409);
	reply = change(f, "job.cancel", 200);
	assert_true(str_is(json_get_str(reply, "status"), "cancelled"));
	expect_status(f, "cancelled", 0);
	assert_true(
	    str_is(json_get_str(show(f), "fault"), "the disk was exchanged"));
	assert_false(claim(f, &c));
	change(f, "job.cancel", 409);
	change(f, "job.retry", 409);
}

/* The worker comes back with a result that nobody wants. */
static void
test_claimed_is_cancelled(void **state)
{
	struct fixture *f = *state;
	const struct json *attempt;
	struct claim c;

	assert_true(claim(f, &c));
	change(f, "job.retry", 409);
	change(f, "job.cancel", 200);
	assert_false(settle(f, &c, NULL));
	expect_status(f, "cancelled", 1);
	attempt = json_get(show(f), "attempts")->first;
	assert_true(str_is(json_get_str(attempt, "outcome"), "cancelled"));
	assert_true(str_is(json_get_str(attempt, "worker"), "worker-one"));
	f->shop.clock.ahead_us += (job_ledger_pack.lease_s + 1) * SECOND;
	assert_false(claim(f, &c));
}

static void
test_done_is_left(void **state)
{
	struct fixture *f = *state;
	struct claim c;

	assert_true(claim(f, &c));
	assert_true(settle(f, &c, NULL));
	change(f, "job.retry", 409);
	assert_non_null(strstr(f->e.detail, "completed"));
	change(f, "job.cancel", 409);
	expect_status(f, "completed", 1);
}

/* As many attempts again, numbered on. */
static void
test_failed_is_retried(void **state)
{
	struct fixture *f = *state;
	struct claim c;

	fail_all(f, 0);
	expect_status(f, "failed", (size_t)job_ledger_pack.attempts);
	change(f, "job.cancel", 409);
	change(f, "job.retry", 200);
	expect_status(f, "queued", (size_t)job_ledger_pack.attempts);
	change(f, "job.retry", 409);
	fail_all(f, job_ledger_pack.attempts);
	expect_status(f, "failed", 2 * (size_t)job_ledger_pack.attempts);
	change(f, "job.retry", 200);
	assert_true(claim(f, &c));
	assert_true(settle(f, &c, NULL));
	expect_status(f, "completed", 2 * (size_t)job_ledger_pack.attempts + 1);
}

/* Leases that ran out count in a retried job as in a new one. */
static void
test_lost_after_retry(void **state)
{
	struct fixture *f = *state;
	const struct json *attempt;
	struct claim c;

	fail_all(f, 0);
	change(f, "job.retry", 200);
	for (int64_t i = 0; i < job_ledger_pack.attempts; i++) {
		assert_true(claim(f, &c));
		f->shop.clock.ahead_us +=
		    (job_ledger_pack.lease_s + 1) * SECOND;
	}
	assert_false(claim(f, &c));
	expect_status(f, "failed", 2 * (size_t)job_ledger_pack.attempts);
	attempt = json_get(show(f), "attempts")->last;
	assert_true(str_is(json_get_str(attempt, "outcome"), "failed"));
	assert_false(settle(f, &c, NULL));
}

static void
test_unknown(void **state)
{
	struct fixture *f = *state;
	struct reply reply;

	f->job = uid_new();
	change(f, "job.retry", 404);
	change(f, "job.cancel", 404);
	assert_int_equal(
	    desk_call(&f->desk, &f->desk.staff, "job.show",
		arena_printf(f->shop.a, "{\"uid\":\"%s\"}", uid_of(f)), &reply,
		&f->e),
	    -1);
	assert_ptr_equal(f->e.kind, &err_not_found);
}

static void
rebuild(struct fixture *f)
{
	struct ledger_options options;
	uint64_t events;

	assert_int_equal(service_ledger_options(f->shop.service,
			     &workshop_place, f->shop.a, &options, &f->e),
	    0);
	service_release(f->shop.service, f->worker.ledger);
	service_free(f->shop.service);
	assert_int_equal(
	    ledger_rebuild(&options, NULL, NULL, &events, &f->e), 0);
	workshop_start(&f->shop);
	f->desk.service = f->shop.service;
	f->worker = workshop_hire(&f->shop, "worker-one");
}

static struct str
written(struct fixture *f)
{
	struct str text;
	struct buf b;

	buf_init(&b, 65536);
	json_write(show(f), &b);
	assert_false(buf_failed(&b));
	text = arena_str(f->shop.a, buf_str(&b));
	buf_fini(&b);
	return text;
}

static void
test_rebuild(void **state)
{
	struct fixture *f = *state;
	struct claim c;
	struct str before;

	fail_all(f, 0);
	change(f, "job.retry", 200);
	assert_true(claim(f, &c));
	change(f, "job.cancel", 200);
	before = written(f);
	rebuild(f);
	assert_true(str_eq(before, written(f)));
	assert_false(settle(f, &c, NULL));
}

#define WITH_JOB(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_JOB(test_queued_is_cancelled),
		WITH_JOB(test_claimed_is_cancelled),
		WITH_JOB(test_done_is_left),
		WITH_JOB(test_failed_is_retried),
		WITH_JOB(test_lost_after_retry),
		WITH_JOB(test_unknown),
		WITH_JOB(test_rebuild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
