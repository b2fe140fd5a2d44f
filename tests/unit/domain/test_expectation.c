#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>

#include "domain/catalog.h"
#include "tests/support/desk.h"

/* A write of this name that expects the list of applications to be as known;
 * no value: expects nothing. */
struct sender {
	struct desk *d;
	struct arena *a;
	const char *name;
	struct str known;
	const struct operation *current;
	int result, asked;
	bool found;
	struct reply reply;
	struct err e;
};

static struct str
text_of(struct arena *a, const struct json *v)
{
	struct buf b;
	struct str text;

	buf_init(&b, 1 << 20);
	json_write(v, &b);
	text = arena_str(a, buf_str(&b));
	buf_fini(&b);
	return text;
}

static int
judge(void *arg, const struct reply *now, struct err *e)
{
	struct sender *s = arg;

	s->asked++;
	s->found = now != NULL;
	if (now && str_eq(text_of(s->a, now->body), s->known))
		return 0;
	return err_set(e, &err_conflict, "it is another one by now");
}

static void *
create(void *arg)
{
	struct sender *s = arg;
	struct desk *d = s->d;
	struct expectation expects = { s->current, judge, s };
	struct call call = {
		.op = catalog_by_id(STR("application.create")),
		.caller = &d->staff,
		.request = uid_new(),
		.expects = s->known.p ? &expects : NULL,
	};
	struct json *body;

	call.body = arena_strf(s->a,
	    "{\"name\":\"%s\",\"responsible\":\"A. Person\",\"scopes\":[\"workspace:read\"]}",
	    s->name);
	s->e = (struct err){ 0 };
	s->asked = 0;
	s->result =
	    json_parse(s->a, call.body, &json_limits_default, &body, &s->e);
	call.input = (struct input){ .body = body, .flat = true };
	if (s->result ||
	    service_acquire(d->service, &d->place, &call.ledger, &s->e)) {
		s->result = -2;
		return NULL;
	}
	s->result = call_run(d->service, &call, s->a, &s->reply, &s->e);
	service_release(d->service, call.ledger);
	return NULL;
}

static struct sender
sender(struct desk *d, const char *name)
{
	return (struct sender){ .d = d,
		.a = d->a,
		.name = name,
		.current = catalog_by_id(STR("application.list")) };
}

static void
test_as_expected(void **state)
{
	struct desk *d = *state;
	struct sender s = sender(d, "one");
	struct str before = text_of(d->a, desk_do(d, "application.list", "{}"));

	s.known = before;
	create(&s);
	assert_int_equal(s.result, 0);
	assert_int_equal(s.asked, 1);
	assert_true(s.found);
	s.name = "two";
	create(&s);
	assert_int_equal(s.result, -1);
	assert_ptr_equal(s.e.kind, &err_conflict);
	/* Nothing of it is left. */
	s.known = text_of(d->a, desk_do(d, "application.list", "{}"));
	assert_false(str_eq(s.known, before));
	create(&s);
	assert_int_equal(s.result, 0);
}

static void
test_nothing_to_read(void **state)
{
	struct sender s = sender(*state, "one");

	s.known = STR("anything");
	s.current = NULL;
	create(&s);
	assert_int_equal(s.result, -1);
	assert_int_equal(s.asked, 1);
	assert_false(s.found);
	/* A record that is not named by the path is not there either. */
	s.current = catalog_by_id(STR("application.show"));
	create(&s);
	assert_int_equal(s.result, -1);
	assert_false(s.found);
}

/* RFC 9110, 13.2.1. */
static void
test_the_own_refusal_comes_first(void **state)
{
	struct sender s = sender(*state, "one");

	create(&s);
	assert_int_equal(s.result, 0);
	s.known = STR("anything");
	create(&s);
	assert_int_equal(s.result, -1);
	assert_ptr_equal(s.e.kind, &err_invalid);
}

#define SENDERS 8

/* All have seen the same list: one of them changes it, however many decide in
 * one batch. */
static void
test_one_of_many(void **state)
{
	struct desk *d = *state;
	struct str before = text_of(d->a, desk_do(d, "application.list", "{}"));
	static const char *const names[SENDERS] = { "a", "b", "c", "d", "e",
		"f", "g", "h" };
	struct sender s[SENDERS];
	pthread_t threads[SENDERS];
	int done = 0;

	for (int i = 0; i < SENDERS; i++) {
		s[i] = sender(d, names[i]);
		s[i].a = arena_new();
		s[i].known = before;
		assert_int_equal(
		    pthread_create(&threads[i], NULL, create, &s[i]), 0);
	}
	for (int i = 0; i < SENDERS; i++) {
		pthread_join(threads[i], NULL);
		done += s[i].result == 0;
		assert_true(s[i].result == 0 || s[i].e.kind == &err_conflict);
		arena_free(s[i].a);
	}
	assert_int_equal(done, 1);
	assert_int_equal(
	    json_get(desk_do(d, "application.list", "{}"), "data")->n, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DESK(test_as_expected),
		WITH_DESK(test_nothing_to_read),
		WITH_DESK(test_the_own_refusal_comes_first),
		WITH_DESK(test_one_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
