#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "domain/jobs/kinds.h"
#include "domain/ledger_ops.h"
#include "domain/ledger_ops/group.h"
#include "ledger/write/index.h"
#include "tests/support/workshop.h"

#define SECOND INT64_C(1000000)
#define HOUR   (3600 * SECOND)

struct fixture {
	struct workshop shop;
	struct worker one, two;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	workshop_open(&f->shop, 24);
	f->one = workshop_hire(&f->shop, "worker-one");
	f->two = workshop_hire(&f->shop, "worker-two");
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	service_release(f->shop.service, f->one.ledger);
	service_release(f->shop.service, f->two.ledger);
	workshop_close(&f->shop);
	free(f);
	return 0;
}

static int
queue_one(struct context *c, void *arg, struct err *e)
{
	return job_queue(c, arg, NULL, NULL, e);
}

static void
queue(struct fixture *f, const struct job_kind *kind)
{
	struct job_kind *borrowed = (struct job_kind *)(uintptr_t)kind;
	struct worker_decision d = { .decide = queue_one, .arg = borrowed };
	struct receipt receipt;
	struct err e = { 0 };

	assert_int_equal(
	    worker_submit(&f->one, f->shop.a, &d, &receipt, &e), 0);
	assert_int_equal(receipt.n, 1);
}

static int64_t
count(const struct worker *w, const char *where)
{
	struct reading reading;
	struct err e = { 0 };
	int64_t n = -1;

	assert_int_equal(ledger_read_begin(w->ledger, &reading, &e), 0);
	if (strcmp(where, "completed") == 0)
		assert_int_equal(db_get_int(reading.db, &n, 0, &e,
				     "SELECT count(*) FROM job"
				     " WHERE status = 'completed'",
				     ""),
		    0);
	else if (strcmp(where, "failed") == 0)
		assert_int_equal(db_get_int(reading.db, &n, 0, &e,
				     "SELECT count(*) FROM job"
				     " WHERE status = 'failed'",
				     ""),
		    0);
	else if (strcmp(where, "verifications") == 0)
		assert_int_equal(db_get_int(reading.db, &n, 0, &e,
				     "SELECT count(*) FROM verification", ""),
		    0);
	else
		assert_int_equal(db_get_int(reading.db, &n, 0, &e,
				     "SELECT count(*) FROM job", ""),
		    0);
	ledger_read_end(&reading);
	return n;
}

/* Events of this type in the ledger itself. */
static size_t
count_events(struct fixture *f, const char *type)
{
	struct reading reading;
	struct err e = { 0 };
	uint64_t size;
	size_t n = 0;

	assert_int_equal(ledger_read_begin(f->one.ledger, &reading, &e), 0);
	assert_int_equal(ledger_read_size(&reading, &size, &e), 0);
	for (uint64_t seq = 0; seq < size; seq++) {
		struct stored_event stored;

		assert_int_equal(
		    ledger_read_event(&reading, seq, f->shop.a, &stored, &e),
		    0);
		n += str_is(stored.recorded.event.type, type);
	}
	ledger_read_end(&reading);
	return n;
}

static int
claim(struct fixture *f, const struct worker *w, struct claim *out)
{
	struct err e = { 0 };
	int claimed = worker_claim(w, f->shop.a, out, &e);

	if (claimed < 0)
		fail_msg("%s", e.detail);
	return claimed;
}

static bool
settle(struct fixture *f, const struct worker *w, const struct claim *c,
    const struct err *fault)
{
	struct json *result = json_object(f->shop.a);
	struct err e = { 0 };
	bool ended;

	if (worker_settle(w, f->shop.a, c, result, fault, &ended, &e))
		fail_msg("%s", e.detail);
	return ended;
}

static void
test_job_is_run_once(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };

	assert_int_equal(worker_run_one(&f->one, f->shop.a, &e), 0);
	queue(f, &job_ledger_verify);
	assert_int_equal(worker_run_one(&f->one, f->shop.a, &e), 1);
	assert_int_equal(worker_run_one(&f->two, f->shop.a, &e), 0);
	assert_int_equal(count(&f->one, "completed"), 1);
	assert_int_equal(count(&f->one, "verifications"), 1);
	assert_int_equal(count_events(f, "ledger.verified"), 1);
}

static void
test_verification_is_recorded(void **state)
{
	struct fixture *f = *state;
	struct caller caller = worker_caller(&f->one);
	struct context c = worker_context(&f->one, &caller, f->shop.a);
	struct verification v;
	struct reading reading;
	struct err e = { 0 };

	queue(f, &job_ledger_verify);
	assert_int_equal(worker_run_one(&f->one, f->shop.a, &e), 1);
	assert_int_equal(ledger_read_begin(f->one.ledger, &reading, &e), 0);
	c.db = reading.db;
	assert_int_equal(ledger_last_verification(&c, &v, &e), 1);
	/* opened, workspace created, index begun, job queued and claimed */
	assert_int_equal(v.size, 5);
	assert_int_equal(v.events, 5);
	assert_true(str_is(v.result, "passed"));
	assert_null(v.reason.p);
	assert_true(v.started_at.us > 0 && v.finished_at.us >= v.started_at.us);
	ledger_read_end(&reading);
}

/* Of the first batch, whose objects nothing but a verification reads. */
static void
lose_events_of_first_batch(struct fixture *f)
{
	const char *command = arena_printf(f->shop.a,
	    "cd %s/var/ledgers/acme/sandbox/ledger.git &&"
	    " c=$(git rev-list --reverse main | head -n 1) &&"
	    " o=$(git rev-parse $c:events) &&"
	    " rm -f objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)",
	    f->shop.dir);

	assert_int_equal(system(command), 0);
}

static void
test_damage_is_recorded(void **state)
{
	struct fixture *f = *state;
	struct caller caller = worker_caller(&f->one);
	struct context c = worker_context(&f->one, &caller, f->shop.a);
	struct verification v;
	struct reading reading;
	struct err e = { 0 };

	lose_events_of_first_batch(f);
	queue(f, &job_ledger_verify);
	assert_int_equal(worker_run_one(&f->one, f->shop.a, &e), 1);
	assert_int_equal(ledger_read_begin(f->one.ledger, &reading, &e), 0);
	c.db = reading.db;
	assert_int_equal(ledger_last_verification(&c, &v, &e), 1);
	assert_true(str_is(v.result, "failed"));
	assert_true(v.reason.n > 0);
	assert_true(v.failed_seq.set);
	assert_int_equal(v.failed_seq.v, 0);
	ledger_read_end(&reading);
}

static void
test_lease_runs_out(void **state)
{
	struct fixture *f = *state;
	struct claim lost, second, none;

	queue(f, &job_ledger_pack);
	assert_int_equal(claim(f, &f->one, &lost), 1);
	assert_int_equal(lost.job.attempt, 1);
	assert_int_equal(claim(f, &f->two, &none), 0);
	f->shop.clock.ahead_us += (job_ledger_pack.lease_s - 60) * SECOND;
	assert_int_equal(claim(f, &f->two, &none), 0);
	f->shop.clock.ahead_us += 61 * SECOND;
	assert_int_equal(claim(f, &f->two, &second), 1);
	assert_int_equal(second.job.attempt, 2);
	assert_true(uid_eq(second.job.uid, lost.job.uid));
	/* The first worker comes back too late. */
	assert_false(settle(f, &f->one, &lost, NULL));
	assert_int_equal(count(&f->one, "completed"), 0);
	assert_true(settle(f, &f->two, &second, NULL));
	assert_false(settle(f, &f->two, &second, NULL));
	assert_int_equal(count(&f->one, "completed"), 1);
	assert_int_equal(count_events(f, "job.completed"), 1);
}

static void
test_lost_workers_end_the_job(void **state)
{
	struct fixture *f = *state;
	struct claim c;

	queue(f, &job_ledger_pack);
	for (int64_t i = 1; i <= job_ledger_pack.attempts; i++) {
		assert_int_equal(claim(f, &f->one, &c), 1);
		assert_int_equal(c.job.attempt, i);
		f->shop.clock.ahead_us +=
		    (job_ledger_pack.lease_s + 1) * SECOND;
	}
	assert_int_equal(claim(f, &f->one, &c), 0);
	assert_int_equal(count(&f->one, "failed"), 1);
	assert_int_equal(claim(f, &f->one, &c), 0);
	assert_int_equal(count_events(f, "job.failed"), 1);
}

/* As long as eight pushes may take, and a minute. */
static void
test_mirror_lease_is_bounded(void **state)
{
	struct fixture *f = *state;
	int64_t seconds =
	    8 * service_config(f->shop.service)->mirror_seconds + 60;
	struct claim lost, none;

	queue(f, &job_ledger_mirror);
	assert_int_equal(claim(f, &f->one, &lost), 1);
	f->shop.clock.ahead_us += (seconds - 60) * SECOND;
	assert_int_equal(claim(f, &f->two, &none), 0);
	assert_int_equal(count(&f->one, "failed"), 0);
	f->shop.clock.ahead_us += 61 * SECOND;
	assert_int_equal(claim(f, &f->two, &none), 0);
	assert_int_equal(count(&f->one, "failed"), 1);
	assert_false(settle(f, &f->one, &lost, NULL));
}

static void
test_failed_attempts_wait_and_end(void **state)
{
	struct fixture *f = *state;
	struct err fault = { 0 };
	struct claim c;
	int64_t pause_s = 5;

	err_set(&fault, &err_unavailable, "no disk");
	queue(f, &job_ledger_pack);
	for (int64_t i = 1; i < job_ledger_pack.attempts; i++) {
		assert_int_equal(claim(f, &f->one, &c), 1);
		assert_true(settle(f, &f->one, &c, &fault));
		f->shop.clock.ahead_us += (pause_s - 2) * SECOND;
		assert_int_equal(claim(f, &f->two, &c), 0);
		f->shop.clock.ahead_us += 3 * SECOND;
		pause_s *= 2;
	}
	assert_int_equal(claim(f, &f->two, &c), 1);
	assert_true(settle(f, &f->two, &c, &fault));
	assert_int_equal(count(&f->one, "failed"), 1);
	assert_int_equal(claim(f, &f->one, &c), 0);
}

/* What the settlement refuses ends the attempt, not the worker. */
static void
test_result_that_does_not_fit(void **state)
{
	struct fixture *f = *state;
	struct json *wrong = json_object(f->shop.a);
	struct claim c;
	struct err e = { 0 };
	bool ended;

	json_put_str(f->shop.a, wrong, "result", STR("perhaps"));
	queue(f, &job_ledger_verify);
	assert_int_equal(claim(f, &f->one, &c), 1);
	assert_int_equal(
	    worker_settle(&f->one, f->shop.a, &c, wrong, NULL, &ended, &e), -1);
	assert_ptr_equal(e.kind, &err_invalid);
	assert_false(ended);
	assert_int_equal(count(&f->one, "verifications"), 0);
	assert_int_equal(count_events(f, "job.completed"), 0);
}

static void
test_schedule(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };

	assert_int_equal(worker_schedule(&f->one, f->shop.a, &e), 0);
	assert_int_equal(worker_schedule(&f->two, f->shop.a, &e), 0);
	assert_int_equal(count(&f->one, "all"), 1); /* never verified */
	assert_int_equal(worker_run_one(&f->one, f->shop.a, &e), 1);
	assert_int_equal(worker_schedule(&f->one, f->shop.a, &e), 0);
	assert_int_equal(count(&f->one, "all"), 1);
	f->shop.clock.ahead_us += 23 * HOUR;
	assert_int_equal(worker_schedule(&f->one, f->shop.a, &e), 0);
	assert_int_equal(count(&f->one, "all"), 1);
	f->shop.clock.ahead_us += 2 * HOUR;
	assert_int_equal(worker_schedule(&f->one, f->shop.a, &e), 0);
	assert_int_equal(count(&f->one, "all"), 2);
	assert_int_equal(worker_run_one(&f->two, f->shop.a, &e), 1);
	assert_int_equal(count(&f->one, "verifications"), 2);
}

static bool
is_indexed(const struct worker *w)
{
	struct reading reading;
	struct err e = { 0 };
	bool indexed;

	assert_int_equal(ledger_read_begin(w->ledger, &reading, &e), 0);
	assert_int_equal(ledger_is_indexed(reading.db, &indexed, &e), 0);
	ledger_read_end(&reading);
	return indexed;
}

/* As in a ledger from before the index: its tables know of no announcement. The
 * first job is a verification, which finds the commits of this test that lack
 * the trailer after all. */
static void
test_index_is_begun(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };

	assert_true(is_indexed(&f->one));
	assert_int_equal(system(arena_printf(f->shop.a,
			     "sqlite3 '%s'/var/ledgers/acme/sandbox/state.db"
			     " 'DELETE FROM ledger_indexed'",
			     f->shop.dir)),
	    0);
	assert_false(is_indexed(&f->one));
	assert_int_equal(worker_schedule(&f->one, f->shop.a, &e), 0);
	assert_int_equal(count(&f->one, "all"), 2);
	assert_int_equal(worker_run_one(&f->one, f->shop.a, &e), 1);
	assert_int_equal(worker_run_one(&f->one, f->shop.a, &e), 1);
	assert_true(is_indexed(&f->one));
	assert_int_equal(worker_schedule(&f->one, f->shop.a, &e), 0);
	assert_int_equal(count(&f->one, "all"), 2);
}

/* Who waits for other machines leaves the ledger's own upkeep alone, and the
 * other way round. */
static void
test_parts_claim_their_own(void **state)
{
	struct fixture *f = *state;
	struct claim c;

	f->one.part = WORKER_LOCAL;
	f->two.part = WORKER_REMOTE;
	queue(f, &job_ledger_mirror);
	queue(f, &job_ledger_verify);
	assert_int_equal(claim(f, &f->one, &c), 1);
	assert_ptr_equal(c.kind, &job_ledger_verify);
	assert_int_equal(claim(f, &f->one, &c), 0);
	assert_int_equal(claim(f, &f->two, &c), 1);
	assert_ptr_equal(c.kind, &job_ledger_mirror);
	assert_int_equal(claim(f, &f->two, &c), 0);
}

/* A process of its own: serves until nothing is left. */
static _Noreturn void
work(struct fixture *f, const char *name)
{
	struct service *service;
	struct worker w = { .place = workshop_place, .name = str_from(name) };
	struct err e = { 0 };
	int ran, idle = 0;

	if (service_new(&f->shop.config, &service, &e) ||
	    service_acquire(service, &workshop_place, &w.ledger, &e))
		_exit(1);
	w.service = service;
	while (idle < 3) {
		ran = worker_run_one(&w, f->shop.a, &e);
		if (ran < 0) {
			fprintf(stderr, "%s: %s\n", name, e.detail);
			_exit(1);
		}
		idle = ran ? 0 : idle + 1;
	}
	service_release(service, w.ledger);
	service_free(service);
	_exit(0);
}

#define JOBS 20

static void
test_two_processes_share_the_work(void **state)
{
	struct fixture *f = *state;
	pid_t pids[2];

	for (int i = 0; i < JOBS; i++)
		queue(f, &job_ledger_verify);
	/* A process forks without open ledgers. */
	service_release(f->shop.service, f->one.ledger);
	service_release(f->shop.service, f->two.ledger);
	service_free(f->shop.service);
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			work(f, i ? "process-b" : "process-a");
	}
	for (int i = 0; i < 2; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	workshop_start(&f->shop);
	f->one = workshop_hire(&f->shop, "worker-one");
	f->two = workshop_hire(&f->shop, "worker-two");
	assert_int_equal(count(&f->one, "completed"), JOBS);
	assert_int_equal(count(&f->one, "verifications"), JOBS);
	assert_int_equal(count_events(f, "job.completed"), JOBS);
	assert_int_equal(count_events(f, "job.claimed"), JOBS);
}

#define WITH_WORKERS(test) \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(test_job_is_run_once),
		WITH_WORKERS(test_verification_is_recorded),
		WITH_WORKERS(test_damage_is_recorded),
		WITH_WORKERS(test_lease_runs_out),
		WITH_WORKERS(test_lost_workers_end_the_job),
		WITH_WORKERS(test_mirror_lease_is_bounded),
		WITH_WORKERS(test_failed_attempts_wait_and_end),
		WITH_WORKERS(test_result_that_does_not_fit),
		WITH_WORKERS(test_schedule),
		WITH_WORKERS(test_index_is_begun),
		WITH_WORKERS(test_parts_claim_their_own),
		WITH_WORKERS(test_two_processes_share_the_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
