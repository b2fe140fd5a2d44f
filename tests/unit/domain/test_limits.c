#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "domain/applications.h"
#include "domain/limits/events.h"
#include "domain/limits/months.h"
#include "domain/pool.h"
#include "tests/support/desk.h"
#include "tests/support/event_vector.h"

/* A clock that stands still until a test moves it. */
static struct instant wall, steady = { 1000000000 };

static struct instant
wall_now(const struct clock *c)
{
	(void)c;
	return wall;
}

static struct instant
steady_now(const struct clock *c)
{
	(void)c;
	return steady;
}

static const struct clock still = { wall_now, steady_now };

struct fixture {
	struct desk desk;
	struct caller one, other; /* of two applications */
	struct str credential;    /* uid of one's */
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct json *list;

	desk_open(&f->desk, "sandbox");
	desk_application(
	    &f->desk, "one", "[\"workspace:read\"]", "[]", &f->one);
	desk_application(
	    &f->desk, "other", "[\"workspace:read\"]", "[]", &f->other);
	list = desk_do(&f->desk, "credential.list", "{}");
	f->credential = json_get_str(json_get(list, "data")->first, "uid");
	assert_true(instant_parse_rfc3339(STR("2026-11-30T23:59:00Z"), &wall));
	service_set_clock(f->desk.service, &still);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	service_set_clock(f->desk.service, &clock_system);
	desk_close(&f->desk);
	free(f);
	return 0;
}

static const char *
text_of(struct fixture *f, struct uid uid)
{
	char text[UID_TEXT + 1];

	uid_format(uid, text);
	return arena_cstr(f->desk.a, str_from(text));
}

static struct json *
set(struct fixture *f, const char *id, const char *uid, const char *numbers)
{
	struct json *reply;

	service_set_clock(f->desk.service, &clock_system);
	reply = desk_do(&f->desk, id,
	    arena_printf(f->desk.a, "{\"uid\":\"%s\"%s}", uid, numbers));
	service_set_clock(f->desk.service, &still);
	return reply;
}

/* What the tables say now. */
static struct limits_party
party(struct fixture *f, const struct caller *caller)
{
	struct limits_party p = limits_party_of(caller);
	struct credential credential;
	struct reading reading;
	struct ledger *ledger;
	struct err e = { 0 };

	assert_int_equal(
	    service_acquire(f->desk.service, &caller->place, &ledger, &e), 0);
	assert_int_equal(ledger_read_begin(ledger, &reading, &e), 0);
	assert_int_equal(credential_find(reading.db, caller->credential,
			     f->desk.a, &credential, &e),
	    1);
	ledger_read_end(&reading);
	service_release(f->desk.service, ledger);
	p.limits = credential.limits;
	return p;
}

static int
take(struct fixture *f, const struct limits_party *p, struct limits_report *r,
    struct err *e)
{
	*e = (struct err){ 0 };
	return limits_take(f->desk.service, p, f->desk.a, r, e);
}

/* How many of so many pass. */
static int
take_many(struct fixture *f, const struct limits_party *p, int n)
{
	struct limits_report r;
	struct err e;
	int passed = 0;

	for (int i = 0; i < n; i++)
		passed += take(f, p, &r, &e) == 0;
	return passed;
}

static void
test_configured_limits(void **state)
{
	struct fixture *f = *state;
	struct limits_party p = party(f, &f->one), q = party(f, &f->other);
	struct limits_report r;
	struct err e;

	assert_int_equal(take(f, &p, &r, &e), 0);
	assert_int_equal(r.n, 2);
	assert_string_equal(r.items[0].name, "burst");
	assert_int_equal(r.items[0].quota, 200);
	assert_int_equal(r.items[0].window_s, 2);
	assert_int_equal(r.items[0].left, 199);
	assert_int_equal(r.items[0].reset_s, 1);
	assert_string_equal(r.items[1].name, "monthly");
	assert_int_equal(r.items[1].left, 999999);
	assert_int_equal(r.items[1].reset_s, 60); /* to midnight */
	assert_int_equal(take_many(f, &p, 300), 199);
	/* Another application has its own. */
	assert_int_equal(take_many(f, &q, 300), 200);
	steady.us += 1000000;
	assert_int_equal(take_many(f, &p, 300), 100);
	/* A look counts nothing. */
	limits_look(f->desk.service, &p, &r);
	assert_int_equal(r.items[1].left, 1000000 - 300);
	assert_int_equal(r.items[0].left, 0);
}

static void
test_refusal_names_the_limit(void **state)
{
	struct fixture *f = *state;
	struct limits_party p;
	struct limits_report r;
	const struct json *names;
	struct err e;

	set(f, "application.set_limits", text_of(f, f->one.application),
	    ",\"requests_per_second\":1,\"burst\":3,\"monthly\":5");
	p = party(f, &f->one);
	assert_int_equal(take_many(f, &p, 3), 3);
	assert_int_equal(take(f, &p, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_rate);
	assert_int_equal(e.retry_after_s, 1);
	names = json_get(e.extension, "violated-policies");
	assert_int_equal(names->n, 1);
	assert_true(str_is(names->first->text, "burst"));
	assert_true(r.items[0].violated && !r.items[1].violated);
	assert_int_equal(
	    r.items[1].left, 2); /* what is refused costs nothing */
	steady.us += 10000000;
	assert_int_equal(take_many(f, &p, 9), 2);
	assert_int_equal(take(f, &p, &r, &e), -1);
	names = json_get(e.extension, "violated-policies");
	assert_int_equal(names->n, 1);
	assert_true(str_is(names->first->text, "monthly"));
	assert_int_equal(e.retry_after_s, 60);
	assert_int_equal(r.items[0].left, 1); /* given back */
}

static void
test_own_limits_of_a_credential(void **state)
{
	struct fixture *f = *state;
	const char *application = text_of(f, f->one.application);
	struct limits_party narrow, wide;
	struct limits_report r;
	struct err e;

	set(f, "application.set_limits", application, ",\"monthly\":10");
	set(f, "credential.set_limits", arena_cstr(f->desk.a, f->credential),
	    ",\"monthly\":4");
	narrow = party(f, &f->one);
	assert_int_equal(narrow.limits.credential.monthly, 4);
	/* Another credential of the same application, without any. */
	wide = narrow;
	wide.credential = STR("pby_test_acme_99999999");
	wide.limits.credential = (struct limit){ 0 };
	assert_int_equal(take_many(f, &narrow, 9), 4);
	assert_int_equal(take(f, &narrow, &r, &e), -1);
	assert_int_equal(r.n, 4);
	assert_string_equal(r.items[1].name, "monthly");
	assert_true(r.items[1].violated);
	assert_string_equal(r.items[3].name, "application-monthly");
	assert_int_equal(r.items[3].left, 6);
	assert_int_equal(take_many(f, &wide, 9), 6);
	assert_int_equal(take(f, &wide, &r, &e), -1);
	assert_int_equal(r.n, 2);
	/* Gone again: what is not given is not set. */
	set(f, "credential.set_limits", arena_cstr(f->desk.a, f->credential),
	    "");
	set(f, "application.set_limits", application, "");
	narrow = party(f, &f->one);
	assert_int_equal(narrow.limits.credential.monthly, 0);
	assert_int_equal(take_many(f, &narrow, 9), 9);
}

/* Nothing is set for the application: no credential takes from another, and
 * all of them are counted for it. */
static void
test_credentials_alone(void **state)
{
	struct fixture *f = *state;
	const char *application = text_of(f, f->one.application);
	struct limits_party p = party(f, &f->one), q = p;
	struct limits_report r;
	struct err e;

	q.credential = STR("pby_test_acme_99999999");
	assert_int_equal(take_many(f, &p, 300), 200);
	assert_int_equal(take_many(f, &q, 300), 200);
	steady.us += 10000000;
	q.limits.credential.burst = 5;
	assert_int_equal(take_many(f, &q, 9), 5);
	assert_int_equal(take(f, &q, &r, &e), -1);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.items[1].quota, 1000000);
	assert_int_equal(r.items[1].left, 1000000 - 205);
	/* A lid in mid-month knows what was used. */
	set(f, "application.set_limits", application, ",\"monthly\":410");
	p = party(f, &f->one);
	assert_int_equal(take_many(f, &p, 9), 5);
	assert_int_equal(take(f, &p, &r, &e), -1);
	assert_int_equal(r.items[1].quota, 410);
}

/* The wider one refuses: the narrower one has given back what it took. */
static void
test_what_is_given_back(void **state)
{
	struct fixture *f = *state;
	struct limits_party p = party(f, &f->one);
	struct limits_report r;

	p.limits.credential = (struct limit){ 1, 50, 50 };
	p.limits.application = (struct limit){ 1, 20, 30 };
	assert_int_equal(take_many(f, &p, 100), 20);
	limits_look(f->desk.service, &p, &r);
	assert_int_equal(r.items[0].left, 30);
	assert_int_equal(r.items[1].left, 30);
	assert_int_equal(r.items[2].left, 0);
	assert_int_equal(r.items[3].left, 10);
}

static struct str
file_of(struct fixture *f, const char *month)
{
	return arena_strf(f->desk.a, "%.*s/limits/%s",
	    STR_ARGS(service_config(f->desk.service)->state), month);
}

static bool
exists(struct str path)
{
	struct stat st;

	return stat(path.p, &st) == 0;
}

static void
test_months_and_restarts(void **state)
{
	struct fixture *f = *state;
	struct limits_party p = party(f, &f->one);
	struct config config = *service_config(f->desk.service);
	struct service *again;
	struct limits_report r;
	struct err e = { 0 };

	assert_int_equal(take_many(f, &p, 150), 150);
	/* Another process, later. */
	assert_int_equal(service_new(&config, &again, &e), 0);
	service_set_clock(again, &still);
	limits_look(again, &p, &r);
	assert_int_equal(r.items[1].left, 1000000 - 150);
	assert_int_equal(r.items[0].left, 50);
	wall.us += 61 * 1000000; /* December */
	limits_look(f->desk.service, &p, &r);
	assert_int_equal(r.items[1].left, 1000000);
	assert_int_equal(take_many(f, &p, 10), 10);
	limits_look(again, &p, &r);
	assert_int_equal(r.items[1].left, 1000000 - 10);
	assert_int_equal(r.items[1].reset_s, 31 * 24 * 3600 - 1);
	assert_int_equal(limits_keep(again, &e), 0);
	assert_true(exists(file_of(f, "2026-11")));
	/* A clock that goes back finds what was counted. */
	wall.us -= 61 * 1000000;
	limits_look(again, &p, &r);
	assert_int_equal(r.items[1].left, 1000000 - 150);
	wall.us += 40ll * 24 * 3600 * 1000000; /* January */
	assert_int_equal(take_many(f, &p, 1), 1);
	assert_int_equal(limits_keep(again, &e), 0);
	assert_false(exists(file_of(f, "2026-11")));
	assert_true(exists(file_of(f, "2026-12")));
	assert_true(exists(file_of(f, "2027-01")));
	service_free(again);
}

/* Processes that open the state for themselves, with two threads each. */

#define PROCESSES 3
#define ATTEMPTS  300

struct child {
	struct service *service;
	struct limits_party party;
	_Atomic int passed;
};

static void *
attempt(void *arg)
{
	struct child *c = arg;
	struct arena *a = arena_new();

	for (int i = 0; i < ATTEMPTS; i++) {
		struct limits_report r;
		struct err e = { 0 };

		if (limits_take(c->service, &c->party, a, &r, &e) == 0)
			atomic_fetch_add(&c->passed, 1);
	}
	arena_free(a);
	return NULL;
}

/* Writes how many passed. */
static _Noreturn void
run_child(const struct config *config, const struct limits_party *p, int fd)
{
	struct child c = { .party = *p };
	struct err e = { 0 };
	pthread_t other;
	int passed;

	if (service_new(config, &c.service, &e))
		_exit(1);
	service_set_clock(c.service, &still);
	if (pthread_create(&other, NULL, attempt, &c))
		_exit(1);
	attempt(&c);
	pthread_join(other, NULL);
	passed = c.passed;
	_exit(write(fd, &passed, sizeof passed) == sizeof passed ? 0 : 1);
}

static int
passed_by_processes(struct fixture *f, const struct limits_party *p)
{
	struct config config = *service_config(f->desk.service);
	int ends[2], total = 0;

	assert_int_equal(pipe(ends), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			run_child(&config, p, ends[1]);
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status = -1, passed = 0;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
		assert_int_equal(
		    read(ends[0], &passed, sizeof passed), sizeof passed);
		total += passed;
	}
	close(ends[0]);
	close(ends[1]);
	return total;
}

static void
test_processes_pass_exactly_as_many(void **state)
{
	struct fixture *f = *state;
	struct limits_party p = party(f, &f->one);
	struct limits_report r;

	p.limits.application = (struct limit){ 1, 777, 1000 };
	assert_int_equal(passed_by_processes(f, &p), 777);
	limits_look(f->desk.service, &p, &r);
	assert_int_equal(r.items[0].left, 0);
	assert_int_equal(r.items[1].left, 223);
	steady.us += 1000 * 1000000ll;
	assert_int_equal(passed_by_processes(f, &p), 223);
	limits_look(f->desk.service, &p, &r);
	assert_int_equal(r.items[1].left, 0);
	assert_int_equal(r.items[0].left, 777 - 223);
}

static struct limit_table *
table(struct fixture *f)
{
	struct month month = month_of(wall);
	struct err e = { 0 };
	struct limit_table *t = limits_store_table(
	    service_limits(f->desk.service), &month, true, &e);

	assert_non_null(t);
	return t;
}

/* Who has a cell goes on being counted; who has none passes, and it is told. */
static void
test_full_table(void **state)
{
	struct fixture *f = *state;
	struct limits_party old = party(f, &f->one), new = party(f, &f->other);
	struct limit_table *t = table(f);
	struct limits_report r;
	struct err e;

	old.limits.application.monthly = 3;
	new.limits.application.monthly = 3;
	assert_int_equal(take_many(f, &old, 2), 2);
	for (size_t i = 0; i < LIMIT_CELLS; i++)
		if (t->cells[i].first == 0)
			t->cells[i].first = t->cells[i].second = i + 1;
	assert_int_equal(take_many(f, &old, 2), 1);
	assert_int_equal(take_many(f, &new, 5), 5);
	assert_int_equal(t->uncounted, 5);
	assert_int_equal(take(f, &new, &r, &e), 0);
	assert_int_equal(r.n, 0);
}

/* The disk has no place for the file: that is not the clients' fault. */
static void
test_no_table(void **state)
{
	struct fixture *f = *state;
	struct limits_party p = party(f, &f->one);
	struct config config = *service_config(f->desk.service);
	struct service *s;
	struct limits_report r;
	struct err e = { 0 };

	config.state = STR("/dev/null");
	assert_int_equal(service_new(&config, &s, &e), 0);
	service_set_clock(s, &still);
	for (int i = 0; i < 500; i++)
		assert_int_equal(limits_take(s, &p, f->desk.a, &r, &e), 0);
	assert_int_equal(r.n, 0);
	assert_null(e.kind);
	service_free(s);
}

static const struct json *
number(const struct json *v, const char *name, int64_t expected)
{
	int64_t n = -1;

	assert_true(json_get_int(v, name, &n));
	assert_int_equal(n, expected);
	return v;
}

static void
test_show_and_list(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	const char *uid = text_of(f, f->one.application);
	const char *query = arena_printf(d->a, "{\"application\":\"%s\"}", uid);
	struct limits_party p;
	const struct json *v, *row;
	struct reply reply;
	struct err e;

	v = desk_do(d, "limits.show", query);
	row = json_get(v, "application");
	number(row, "used_this_month", 0);
	assert_int_equal(json_get(row, "burst")->type, JSON_NULL);
	assert_int_equal(json_get(row, "remaining_now")->type, JSON_NULL);
	row = json_get(v, "credentials")->first;
	number(number(row, "burst", 200), "remaining_now", 200);
	assert_false(exists(file_of(f, "2026-11"))); /* a read makes none */
	v = set(f, "application.set_limits", uid, ",\"burst\":20");
	number(v, "burst", 20);
	assert_int_equal(json_get(v, "monthly")->type, JSON_NULL);
	p = party(f, &f->one);
	assert_int_equal(take_many(f, &p, 7), 7);
	v = desk_do(d, "limits.show", query);
	row = json_get(v, "application");
	number(number(row, "used_this_month", 7), "remaining_now", 13);
	number(number(row, "requests_per_second", 100), "burst", 20);
	assert_int_equal(json_get(row, "own_limits")->type, JSON_TRUE);
	assert_true(str_is(json_get_str(v, "month"), "2026-11"));
	row = json_get(v, "credentials")->first;
	number(number(row, "used_this_month", 7), "remaining_now", 13);
	assert_int_equal(json_get(row, "own_limits")->type, JSON_FALSE);
	v = json_get(desk_do(d, "limits.list", "{}"), "data");
	assert_int_equal(v->n, 2);
	number(v->first, "used_this_month", 7);
	number(v->first->next, "used_this_month", 0);
	assert_int_equal(json_get(v->first->next, "burst")->type, JSON_NULL);
	assert_int_equal(
	    desk_call(d, &d->staff, "limits.show",
		"{\"application\":\"01980a3c-7c00-7abc-8def-0123456789ab\"}",
		&reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_not_found);
}

static void
test_setting(void **state)
{
	struct fixture *f = *state;
	struct desk *d = &f->desk;
	const char *uid = text_of(f, f->one.application);
	struct str before;
	struct reply reply;
	struct err e;

	event_vector_check(&event_application_limits_set);
	event_vector_check(&event_credential_limits_set);
	event_vector_check(&event_oauth_client_limits_set);
	set(f, "application.set_limits", uid,
	    ",\"requests_per_second\":5,\"reason\":\"Month-end\"");
	set(f, "credential.set_limits", arena_cstr(d->a, f->credential),
	    ",\"monthly\":9");
	service_set_clock(d->service, &clock_system);
	assert_int_equal(
	    desk_call(d, &d->staff, "application.set_limits",
		arena_printf(d->a, "{\"uid\":\"%s\",\"burst\":0}", uid), &reply,
		&e),
	    -1);
	assert_ptr_equal(e.kind, &err_invalid);
	/* A credential is no application. */
	assert_int_equal(desk_call(d, &d->staff, "application.set_limits",
			     arena_printf(d->a, "{\"uid\":\"%.*s\"}",
				 STR_ARGS(f->credential)),
			     &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_not_found);
	/* It is not a change of status. */
	assert_int_equal(
	    desk_call(d, &d->staff, "application.show",
		arena_printf(d->a, "{\"uid\":\"%s\",\"as_of\":%d}", uid, 5),
		&reply, &e),
	    0);
	assert_true(str_is(json_get_str(reply.body, "status"), "active"));
	before = desk_dump(d);
	desk_rebuild(d);
	assert_true(str_eq(before, desk_dump(d)));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_configured_limits),
		TEST(test_refusal_names_the_limit),
		TEST(test_own_limits_of_a_credential),
		TEST(test_credentials_alone),
		TEST(test_what_is_given_back),
		TEST(test_months_and_restarts),
		TEST(test_processes_pass_exactly_as_many),
		TEST(test_full_table),
		TEST(test_no_table),
		TEST(test_show_and_list),
		TEST(test_setting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
