#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "domain/limits/counters.h"
#include "domain/limits/months.h"

#define MS    1000000ull
#define START (1000 * 1000 * MS)

static void
test_bucket_at_its_edges(void **state)
{
	struct bucket b = bucket_of(10, 5); /* one each 100 ms */
	_Atomic uint64_t until = 0;

	(void)state;
	assert_int_equal(bucket_left(until, b, START), 5);
	assert_int_equal(bucket_wait_ns(until, b, START), 0);
	for (uint64_t i = 0; i < 5; i++) {
		assert_int_equal(bucket_left(until, b, START), 5 - i);
		assert_true(bucket_take(&until, b, START));
	}
	assert_false(bucket_take(&until, b, START));
	assert_int_equal(bucket_left(until, b, START), 0);
	assert_int_equal(bucket_wait_ns(until, b, START), 100 * MS);
	assert_false(bucket_take(&until, b, START + 100 * MS - 1));
	assert_int_equal(bucket_wait_ns(until, b, START + 100 * MS - 1), 1);
	assert_true(bucket_take(&until, b, START + 100 * MS));
	assert_false(bucket_take(&until, b, START + 100 * MS));
	/* Full again, and no fuller than full. */
	assert_int_equal(bucket_left(until, b, START + 600 * MS), 5);
	assert_int_equal(bucket_left(until, b, START + 60000 * MS), 5);
	assert_int_equal(bucket_wait_ns(until, b, START + 600 * MS), 0);
}

/* Over a long time exactly the rate passes, whenever it is asked. */
static void
test_bucket_keeps_the_rate(void **state)
{
	struct bucket b = bucket_of(7, 3);
	_Atomic uint64_t until = 0;
	uint64_t passed = 0;

	(void)state;
	for (uint64_t ms = 0; ms < 100000; ms += 13)
		passed += bucket_take(&until, b, START + ms * MS);
	assert_in_range(passed, 3 + 699, 3 + 700);
}

static void
test_bucket_gives_back(void **state)
{
	struct bucket b = bucket_of(1, 2);
	_Atomic uint64_t until = 0;

	(void)state;
	assert_true(bucket_take(&until, b, START));
	assert_true(bucket_take(&until, b, START));
	assert_false(bucket_take(&until, b, START));
	bucket_give_back(&until, b);
	assert_true(bucket_take(&until, b, START));
	assert_false(bucket_take(&until, b, START));
}

static void
test_bucket_under_other_rules(void **state)
{
	struct bucket wide = bucket_of(1, 1000), narrow = bucket_of(100, 200);
	_Atomic uint64_t until = 0;

	(void)state;
	while (bucket_take(&until, wide, START))
		continue;
	/* 1000 s ahead by the old rule: empty by the new one, for 2 s. */
	assert_false(bucket_take(&until, narrow, START));
	assert_int_equal(bucket_wait_ns(until, narrow, START), 10 * MS);
	/* From before a restart of the machine: the clock began anew. */
	until = 40ull * 24 * 3600 * 1000 * MS;
	assert_int_equal(bucket_left(until, narrow, START), 200);
	assert_true(bucket_take(&until, narrow, START));
	assert_int_equal(bucket_left(until, narrow, START), 199);
	/* A thread whose clock is behind by a second does not fill it. */
	while (bucket_take(&until, narrow, START))
		continue;
	assert_false(bucket_take(&until, narrow, START - 1000 * MS));
}

static void
test_quota(void **state)
{
	_Atomic uint64_t used = 0;

	(void)state;
	assert_true(quota_take(&used, 2));
	assert_true(quota_take(&used, 2));
	assert_false(quota_take(&used, 2));
	quota_give_back(&used);
	assert_true(quota_take(&used, 2));
	assert_false(quota_take(&used, 1)); /* lowered meanwhile */
	assert_true(quota_take(&used, 3));
}

static void
test_cells(void **state)
{
	struct limit_cell cells[4] = { 0 }, *first, *second;

	(void)state;
	assert_null(
	    limit_cell_find(cells, 4, (struct limit_key){ 9, 1 }, false));
	first = limit_cell_find(cells, 4, (struct limit_key){ 9, 1 }, true);
	assert_ptr_equal(first, &cells[1]);
	/* The other half of the key tells them apart. */
	second = limit_cell_find(cells, 4, (struct limit_key){ 9, 2 }, true);
	assert_ptr_equal(second, &cells[2]);
	assert_ptr_equal(
	    limit_cell_find(cells, 4, (struct limit_key){ 9, 1 }, true), first);
	assert_ptr_equal(
	    limit_cell_find(cells, 4, (struct limit_key){ 9, 2 }, false),
	    second);
	/* Who took it died before it had said the second half. */
	cells[3].first = 7;
	assert_null(
	    limit_cell_find(cells, 4, (struct limit_key){ 7, 5 }, false));
	assert_ptr_equal(
	    limit_cell_find(cells, 4, (struct limit_key){ 7, 5 }, true),
	    &cells[3]);
	assert_ptr_equal(
	    limit_cell_find(cells, 4, (struct limit_key){ 8, 1 }, true),
	    &cells[0]);
	/* Full: those that are there are found, others are not. */
	assert_null(
	    limit_cell_find(cells, 4, (struct limit_key){ 3, 3 }, true));
	assert_ptr_equal(
	    limit_cell_find(cells, 4, (struct limit_key){ 7, 5 }, true),
	    &cells[3]);
}

/* Processes, each with two threads, that all begin with an empty table. */

#define PROCESSES 3
#define KEYS      50
#define ROUNDS    (KEYS * 100) /* of each thread: six times what passes */

struct shared_work {
	struct limit_cell cells[128];
	_Atomic uint64_t passed_bucket, passed_quota;
};

static void *
work(void *arg)
{
	struct shared_work *w = arg;
	struct bucket b = bucket_of(1, 100);

	for (uint64_t i = 0; i < ROUNDS; i++) {
		struct limit_cell *cell = limit_cell_find(
		    w->cells, 128, (struct limit_key){ 1 + i % KEYS, 5 }, true);

		if (!cell)
			abort();
		if (bucket_take(&cell->spent_until_ns, b, START))
			atomic_fetch_add(&w->passed_bucket, 1);
		if (quota_take(&cell->used, 37))
			atomic_fetch_add(&w->passed_quota, 1);
	}
	return NULL;
}

static _Noreturn void
run_child(struct shared_work *w)
{
	pthread_t other;

	if (pthread_create(&other, NULL, work, w))
		_exit(1);
	work(w);
	pthread_join(other, NULL);
	_exit(0);
}

static void
test_processes_together(void **state)
{
	struct shared_work *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t cells = 0;

	(void)state;
	assert_ptr_not_equal(w, MAP_FAILED);
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			run_child(w);
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status = -1;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	for (size_t i = 0; i < 128; i++)
		cells += w->cells[i].first != 0;
	assert_int_equal(cells, KEYS);
	assert_int_equal(w->passed_quota, KEYS * 37);
	assert_int_equal(w->passed_bucket, KEYS * 100);
	munmap(w, sizeof *w);
}

static void
assert_month(
    const char *at, const char *name, const char *begin, const char *end)
{
	struct instant instant, first, next;
	struct month m;

	assert_true(instant_parse_rfc3339(str_from(at), &instant));
	assert_true(instant_parse_rfc3339(str_from(begin), &first));
	assert_true(instant_parse_rfc3339(str_from(end), &next));
	m = month_of(instant);
	assert_string_equal(m.name, name);
	assert_int_equal(m.begin.us, first.us);
	assert_int_equal(m.end.us, next.us);
}

static void
test_months(void **state)
{
	(void)state;
	assert_month("2026-11-21T13:30:00Z", "2026-11", "2026-11-01T00:00:00Z",
	    "2026-12-01T00:00:00Z");
	assert_month("2026-12-31T23:59:59.999999Z", "2026-12",
	    "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z");
	assert_month("2028-02-29T00:00:00Z", "2028-02", "2028-02-01T00:00:00Z",
	    "2028-03-01T00:00:00Z");
	assert_month("2027-01-01T00:00:00Z", "2027-01", "2027-01-01T00:00:00Z",
	    "2027-02-01T00:00:00Z");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bucket_at_its_edges),
		cmocka_unit_test(test_bucket_keeps_the_rate),
		cmocka_unit_test(test_bucket_gives_back),
		cmocka_unit_test(test_bucket_under_other_rules),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_processes_together),
		cmocka_unit_test(test_months),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
