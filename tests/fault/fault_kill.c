/*
 * kill -9 in a loop under load.
 *
 *	fault_kill [ROUNDS [SEED]]
 *
 * Each round a process of eight writer threads says what it was answered
 * (sequence number and hash, over a pipe) and is killed at a random moment;
 * every second round, two such processes write to the same ledger. After each
 * kill: everything acknowledged is there with the hash that was told; the
 * ledger verifies; nowhere in the repository's directory, the journal
 * included, are there two checkpoints of one size with different roots.
 * Every tenth round state.db is rebuilt and compared row for row.
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

#include "ledger/base/io.h"
#include "ledger/chain/verify.h"
#include "tests/support/toy.h"

#define WRITERS 8
#define ACKS    (1 << 20)

struct ack {
	uint64_t seq;
	struct digest hash;
};

static struct toy toy;
static struct ledger *ledger;
static struct ack acks[ACKS];
static size_t n_acks;

static _Noreturn void
die(const char *what, const char *detail)
{
	fprintf(stderr, "fault_kill: %s: %s (ledger kept in %s)\n", what,
	    detail, toy.dir);
	exit(1);
}

static void *
write_and_tell(void *arg)
{
	int fd = *(const int *)arg;
	struct arena *a = arena_new();

	for (;;) {
		struct receipt r;
		struct err e = { 0 };
		struct ack ack;

		memset(&ack, 0, sizeof ack);
		if (toy_note(ledger, a, STR("under load"), &r, &e))
			_exit(3);
		ack.seq = r.events[0].seq;
		ack.hash = r.events[0].hash;
		if (write(fd, &ack, sizeof ack) != sizeof ack)
			_exit(4);
		arena_reset(a);
	}
	return NULL;
}

static _Noreturn void
child(int fd)
{
	pthread_t threads[WRITERS];
	struct err e = { 0 };

	if (ledger_open(&toy.options, &ledger, &e)) {
		fprintf(stderr, "child: %s\n", e.detail);
		_exit(2);
	}
	for (size_t i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, write_and_tell, &fd);
	pause();
	_exit(5);
}

static void
collect(int fd)
{
	struct ack ack;
	ssize_t n;

	while ((n = read(fd, &ack, sizeof ack)) == sizeof ack) {
		if (n_acks == ACKS)
			die("collect", "too many");
		acks[n_acks++] = ack;
	}
}

/* Starts `processes` writers, lets them run for some ms, kills them. */
static void
round_of_writers(unsigned processes, long ms)
{
	struct timespec nap = { ms / 1000, ms % 1000 * 1000000 };
	pid_t pids[2];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe", "");
	fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
	for (unsigned i = 0; i < processes; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			child(ends[1]);
	}
	close(ends[1]);
	nanosleep(&nap, NULL);
	for (unsigned i = 0; i < processes; i++)
		kill(pids[i], SIGKILL);
	collect(ends[0]);
	close(ends[0]);
	for (unsigned i = 0; i < processes; i++) {
		int status;

		waitpid(pids[i], &status, 0);
		if (WIFEXITED(status))
			die("a writer ended by itself", "see above");
	}
}

static void
check_acks(size_t from)
{
	struct arena *a = arena_new();
	struct reading r;
	struct err e = { 0 };

	if (ledger_read_begin(ledger, &r, &e))
		die("read", e.detail);
	for (size_t i = from; i < n_acks; i++) {
		struct stored_event ev;

		if (ledger_read_event(&r, acks[i].seq, a, &ev, &e))
			die("an acknowledged event is lost", e.detail);
		if (!digest_eq(ev.recorded.hash, acks[i].hash))
			die("an acknowledged event is another one", "");
		arena_reset(a);
	}
	ledger_read_end(&r);
	arena_free(a);
}

static void
check_ledger(void)
{
	struct verify_options o = { .key = ledger_public_key(ledger) };
	struct verify_report report;
	struct err e = { 0 };
	char path[400];

	snprintf(path, sizeof path, "%s/ledger.git", toy.ledger_dir);
	if (verify_ledger(path, &o, &report, &e))
		die("verify", e.detail);
	if (!report.good)
		die(report.check, report.reason);
}

/* Checkpoints as they stand in raw bytes: origin, size, root, each on a line.
 * Objects are stored uncompressed, so a search finds them everywhere. */
static const char scan[] =
    "cd '%s/ledger.git' && git --git-dir=. cat-file --batch-all-objects"
    " --batch --buffer 2>/dev/null > ../scan && cat journal >> ../scan &&"
    " find objects -name 'tmp_obj*' -exec cat {} + >> ../scan;"
    " grep -a -A2 -E '^ledger.example.com/toy/sandbox$' ../scan |"
    " grep -a -v -E '^(--|ledger)' | paste - - | sort -u |"
    " awk '{ if ($1 == last) { print; bad = 1 } last = $1 }"
    " END { exit bad }'";

static void
check_checkpoints(void)
{
	char command[1200];

	snprintf(command, sizeof command, scan, toy.ledger_dir);
	if (system(command) != 0)
		die("two checkpoints of one size", "see above");
}

static void
check_rebuild(void)
{
	struct digest before = toy_hash_view(toy.ledger_dir);
	struct err e = { 0 };
	uint64_t events;

	if (ledger_rebuild(&toy.options, NULL, NULL, &events, &e))
		die("rebuild", e.detail);
	if (!digest_eq(before, toy_hash_view(toy.ledger_dir)))
		die("rebuild", "the read model is another one");
}

int
main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
	long seed = argc > 2 ? strtol(argv[2], NULL, 10) : time(NULL);
	struct err e = { 0 };

	srand48(seed);
	toy_create(&toy, NULL);
	for (long i = 0; i < rounds; i++) {
		size_t from = n_acks;

		round_of_writers(1 + (unsigned)i % 2, 10 + lrand48() % 120);
		if (ledger_open(&toy.options, &ledger, &e))
			die("open", e.detail);
		check_acks(from);
		if (i % 10 == 9 || i == rounds - 1) {
			check_ledger();
			check_checkpoints();
		}
		ledger_close(ledger);
		if (i % 10 == 9)
			check_rebuild();
	}
	if (n_acks == 0)
		die("no event was ever acknowledged", "");
	printf("%ld kills, %zu acknowledged events, all there (seed %ld)\n",
	    rounds, n_acks, seed);
	toy_remove(&toy);
	return 0;
}
