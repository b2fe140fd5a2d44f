/*
 * Many writers on one ledger.
 *
 *	fault_crowd PROCESSES THREADS SECONDS [git]
 *
 * Nobody waits for more than a second while others are served; nothing is
 * refused; everything acknowledged is there. With `git`, stock git's upkeep
 * and the ledger's own run in a loop beside them; they take main.lock and
 * the processor, so waits are told but not judged.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/witness.h"

#define WAIT_MS 1000

/* What a writer tells: its claim, and the time it asked and was answered. */
struct served {
	struct claim claim;
	double from, to;
};

static struct toy toy;
static struct ledger *ledger;
static int tell_fd;
static double until;
static unsigned process;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *
writer(void *arg)
{
	for (int i = 0; now() < until; i++) {
		struct served s;
		char text[CLAIM_TEXT];

		memset(&s, 0, sizeof s);
		snprintf(text, sizeof text, "process %u, thread %u, note %d",
		    process, *(unsigned *)arg, i);
		s.from = now();
		s.claim = claim_note(ledger, text);
		s.to = now();
		if (write(tell_fd, &s, sizeof s) != sizeof s)
			_exit(4);
	}
	return NULL;
}

static int
child(unsigned threads)
{
	pthread_t ids[256];
	unsigned numbers[256];

	ledger = witness_open(&toy);
	for (unsigned i = 0; i < threads; i++) {
		numbers[i] = i;
		if (pthread_create(&ids[i], NULL, writer, &numbers[i]))
			_exit(5);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	ledger_close(ledger);
	return 0;
}

/* Stock git, and packing and syncing, until the time is over. */
static int
upkeep(void)
{
	size_t packed, all = 0;
	int rounds = 0;

	ledger = witness_open(&toy);
	while (now() < until) {
		struct err e = { 0 };

		witness_shell("cd '%s/ledger.git' && { git --git-dir=. gc"
			      " --prune=now; git --git-dir=. repack -ad;"
			      " git --git-dir=. pack-refs --all; git"
			      " --git-dir=. prune --expire=now; } >/dev/null"
			      " 2>&1",
		    toy.ledger_dir);
		if (ledger_sync(ledger, &e) ||
		    ledger_pack(ledger, 200, &packed, &e))
			witness_die(&toy, "upkeep: %s", e.detail);
		all += packed;
		rounds++;
	}
	ledger_close(ledger);
	printf("%d rounds of git, %zu objects packed; ", rounds, all);
	fflush(stdout);
	return 0;
}

static void
add_served(struct served **list, size_t *n, const struct served *s)
{
	if ((*n & (*n - 1)) == 0) {
		*list = reallocarray(*list, *n ? 2 * *n : 1, sizeof **list);
		if (*list == NULL)
			abort();
	}
	(*list)[(*n)++] = *s;
}

/* How many others were served while this one waited. */
static size_t
served_meanwhile(const struct served *list, size_t n, const struct served *s)
{
	size_t others = 0;

	for (size_t i = 0; i < n; i++)
		others += list[i].from > s->from && list[i].to < s->to;
	return others;
}

static void
check_waits(const struct served *list, size_t n, bool git)
{
	double longest = 0;

	for (size_t i = 0; i < n; i++) {
		double wait = list[i].to - list[i].from;
		size_t others;

		longest = wait > longest ? wait : longest;
		if (git || wait * 1000 <= WAIT_MS)
			continue;
		others = served_meanwhile(list, n, &list[i]);
		if (others > 0)
			witness_die(&toy,
			    "\"%s\" waited %.0f ms; %zu that came later were"
			    " served meanwhile",
			    list[i].claim.text, wait * 1000, others);
	}
	printf("%zu notes, longest wait %.0f ms\n", n, longest * 1000);
}

static void
check_served(const struct served *list, size_t n)
{
	struct claims claims = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct claim *c = &list[i].claim;

		if (c->kind != CLAIM_ACKED)
			witness_die(&toy, "\"%s\": %s: %s", c->text, c->slug,
			    c->detail);
		if (i % (1 + n / 500) == 0)
			claims_add(&claims, c);
	}
	witness_all(&claims, &toy);
	claims_clear(&claims);
}

/* Of the sequence numbers none is missing and none was given twice. */
static void
check_numbers(const struct served *list, size_t n)
{
	unsigned char *seen = calloc(n + 1, 1);

	if (seen == NULL)
		abort();
	for (size_t i = 0; i < n; i++) {
		uint64_t seq = list[i].claim.seq;

		if (seq == 0 || seq > n || seen[seq]++)
			witness_die(&toy, "event %llu: twice, or too high",
			    (unsigned long long)seq);
	}
	free(seen);
}

static pid_t
start(unsigned number, unsigned threads)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	process = number;
	exit(threads > 0 ? child(threads) : upkeep());
}

int
main(int argc, char **argv)
{
	unsigned processes =
	    argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8;
	unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 8;
	unsigned seconds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 5;
	bool git = argc > 4;
	struct served *list = NULL, s;
	size_t n = 0;
	int ends[2], status;

	toy_create(&toy, NULL);
	if (threads > 256 || pipe2(ends, O_CLOEXEC))
		return 1;
	/* All begin by making the same read model. */
	if (witness_shell("rm -f '%s'/state.db*", toy.ledger_dir) != 0)
		return 1;
	tell_fd = ends[1];
	until = now() + seconds;
	for (unsigned i = 0; i < processes; i++)
		start(i, threads);
	if (git)
		start(processes, 0);
	close(ends[1]);
	while (read(ends[0], &s, sizeof s) == sizeof s)
		add_served(&list, &n, &s);
	while (wait(&status) > 0)
		if (status != 0)
			witness_die(
			    &toy, "a process ended with %x", (unsigned)status);
	check_served(list, n);
	check_numbers(list, n);
	check_waits(list, n, git);
	free(list);
	toy_remove(&toy);
	return 0;
}
