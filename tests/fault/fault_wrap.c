/*
 * kill -9 while the journal's ring goes round.
 *
 *	fault_wrap [ROUNDS [SEED]]
 *
 * Large notes of random length fill the journal every few dozen batches, from
 * two processes; a third one syncs and frees all the time, or nobody does and
 * the writers must. All are killed at a random moment. Everything acknowledged
 * is there.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/witness.h"

#define WRITERS 24
#define TEXT    4000 /* characters, of three bytes each */

struct ack {
	uint64_t seq;
	struct digest hash;
};

static struct toy toy;
static struct ledger *ledger;
static int tell_fd;

static void *
writer(void *arg)
{
	struct arena *a = arena_new();
	char *text = malloc(3 * TEXT);
	unsigned short seed[3] = { (unsigned short)getpid(),
		(unsigned short)(size_t)arg, 1 };

	if (text == NULL)
		abort();
	for (size_t i = 0; i < TEXT; i++)
		memcpy(text + 3 * i, "\xe2\x82\xac", 3);
	for (;;) {
		size_t n = (size_t)(erand48(seed) * TEXT) + 1;
		struct receipt r;
		struct err e = { 0 };
		struct ack ack;

		memset(&ack, 0, sizeof ack);
		if (toy_note(ledger, a, (struct str){ text, 3 * n }, &r, &e)) {
			fprintf(stderr, "a note: %s\n", e.detail);
			_exit(3);
		}
		ack.seq = r.events[0].seq;
		ack.hash = r.events[0].hash;
		if (write(tell_fd, &ack, sizeof ack) != sizeof ack)
			_exit(4);
		arena_reset(a);
	}
	return NULL;
}

static _Noreturn void
syncer(void)
{
	for (;;) {
		struct err e = { 0 };

		if (ledger_sync(ledger, &e)) {
			fprintf(stderr, "sync: %s\n", e.detail);
			_exit(5);
		}
	}
}

static pid_t
start(bool syncs)
{
	pthread_t threads[WRITERS];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	ledger = witness_open(&toy);
	if (syncs)
		syncer();
	for (size_t i = 0; i < WRITERS; i++)
		if (pthread_create(&threads[i], NULL, writer, (void *)i))
			_exit(6);
	for (;;)
		pause();
}

static size_t
collect(int fd, struct ack **acks)
{
	struct ack ack;
	size_t n = 0;

	*acks = NULL;
	while (read(fd, &ack, sizeof ack) == sizeof ack) {
		*acks = reallocarray(*acks, n + 1, sizeof **acks);
		if (*acks == NULL)
			abort();
		(*acks)[n++] = ack;
	}
	return n;
}

static size_t
live_and_die(bool syncs, long ms, struct ack **acks)
{
	struct timespec nap = { ms / 1000, ms % 1000 * 1000000 };
	int ends[2], status;
	pid_t pids[3];
	size_t n;

	if (pipe2(ends, O_CLOEXEC))
		witness_die(&toy, "pipe");
	fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
	tell_fd = ends[1];
	for (int i = 0; i < 3; i++)
		pids[i] = i < 2 || syncs ? start(i == 2) : 0;
	close(ends[1]);
	nanosleep(&nap, NULL);
	for (int i = 0; i < 3; i++)
		if (pids[i] != 0)
			kill(pids[i], SIGKILL);
	n = collect(ends[0], acks);
	close(ends[0]);
	while (wait(&status) > 0)
		if (WIFEXITED(status))
			witness_die(&toy, "a process ended by itself: %x",
			    (unsigned)status);
	return n;
}

static void
check(const struct ack *acks, size_t n)
{
	struct arena *a = arena_new();
	struct reading r;
	struct err e = { 0 };

	if (ledger_read_begin(ledger, &r, &e))
		witness_die(&toy, "read: %s", e.detail);
	for (size_t i = 0; i < n; i++) {
		struct stored_event ev;

		if (ledger_read_event(&r, acks[i].seq, a, &ev, &e) ||
		    !digest_eq(ev.recorded.hash, acks[i].hash))
			witness_die(&toy, "acknowledged event %llu: %s",
			    (unsigned long long)acks[i].seq,
			    e.kind ? e.detail : "is another one");
		arena_reset(a);
	}
	ledger_read_end(&r);
	arena_free(a);
}

int
main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 30;
	long seed = argc > 2 ? strtol(argv[2], NULL, 10) : time(NULL);
	size_t all = 0;

	srand48(seed);
	toy_create(&toy, witness_fast_dir());
	for (long i = 0; i < rounds; i++) {
		struct ack *acks;
		size_t n = live_and_die(i % 2, 100 + lrand48() % 400, &acks);

		ledger = witness_open(&toy);
		check(acks, n);
		if (i % 10 == 9)
			witness_verify(&toy, ledger);
		ledger_close(ledger);
		free(acks);
		all += n;
	}
	if (all == 0)
		witness_die(&toy, "no event was ever acknowledged");
	witness_all(&(struct claims){ 0 }, &toy);
	printf("%ld kills, %zu large events, all there (seed %ld)\n", rounds,
	    all, seed);
	toy_remove(&toy);
	return 0;
}
