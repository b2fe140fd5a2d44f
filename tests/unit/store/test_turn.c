#include "tests/unit/store/scratch.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "ledger/store/turn.h"

#define PROCESSES 8
#define SECONDS   3

struct shared {
	volatile int inside;
	volatile int clashes;
	volatile unsigned turns[PROCESSES];
	volatile double longest[PROCESSES];
};

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Takes turns of a millisecond as fast as it gets them. */
static void
contend(struct shared *s, int me)
{
	struct timespec work = { 0, 1000000 };
	struct turn *t;
	double end = seconds() + SECONDS;

	if (turn_open(scratch, &t, NULL))
		_exit(1);
	while (seconds() < end) {
		double start = seconds(), waited;

		if (turn_take(t, NULL))
			_exit(1);
		waited = seconds() - start;
		if (waited > s->longest[me])
			s->longest[me] = waited;
		s->clashes = s->clashes + s->inside;
		s->inside = 1;
		nanosleep(&work, NULL);
		s->inside = 0;
		s->turns[me] = s->turns[me] + 1;
		turn_release(t);
	}
	turn_close(t);
	_exit(0);
}

static void
turns_are_fair(void **state)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned least = ~0u, most = 0;

	(void)state;
	assert_true(s != MAP_FAILED);
	for (int i = 0; i < PROCESSES; i++)
		if (!fork())
			contend(s, i);
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(s->clashes, 0);
	for (int i = 0; i < PROCESSES; i++) {
		print_message("%u turns, longest wait %.3f s\n", s->turns[i],
		    s->longest[i]);
		assert_true(s->longest[i] < 1.0);
		least = s->turns[i] < least ? s->turns[i] : least;
		most = s->turns[i] > most ? s->turns[i] : most;
	}
	assert_true(least > 0 && most < 4 * least);
	munmap(s, sizeof(*s));
}

static void
knows_who_waits(void **state)
{
	struct turn *t;
	struct err e = { 0 };
	int tries = 0, status;
	pid_t pid;

	(void)state;
	assert_int_equal(turn_open(scratch, &t, &e), 0);
	assert_int_equal(turn_take(t, &e), 0);
	assert_false(turn_wanted(t));
	pid = fork();
	if (!pid) {
		struct turn *mine;

		_exit(turn_open(scratch, &mine, NULL) || turn_take(mine, NULL));
	}
	while (!turn_wanted(t) && tries++ < 1000)
		usleep(1000);
	assert_true(turn_wanted(t));
	turn_release(t);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(turn_wanted(t));
	turn_close(t);
}

/* The kernel gives the turn of a killed process to the next one. */
static void
survives_a_killed_holder(void **state)
{
	struct turn *t;
	struct err e = { 0 };
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (turn_open(scratch, &t, NULL) || turn_take(t, NULL) ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(turn_open(scratch, &t, &e), 0);
	kill(pid, SIGKILL);
	assert_int_equal(turn_take(t, &e), 0);
	waitpid(pid, NULL, 0);
	turn_release(t);
	turn_close(t);
	close(ready[0]);
	close(ready[1]);
}

static void
needs_its_directory(void **state)
{
	struct turn *t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(turn_open(in_scratch("none"), &t, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(turns_are_fair),
		CASE(knows_who_waits),
		CASE(survives_a_killed_holder),
		CASE(needs_its_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
