/*
 * A fault at each step.
 *
 *	fault_step [PLAN …]
 *
 * A plan names calls and what is done to them (shim_faults.c). A child does
 * the same small work each time: opens the ledger, notes from four threads,
 * stores a content, syncs, notes again, closes; and says what it was answered.
 * The first time the first call is struck, then the second, until the work is
 * done before a call could be struck. After each: what was acknowledged is
 * there, what was refused is not, and the ledger takes one more note.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/power.h"
#include "tests/support/witness.h"

#define THREADS     4
#define STEPS_MAX   3000
#define AFTER       "after"
#define AFTER_NOTES 3

struct plan {
	const char *name, *calls, *what, *times;
	bool dies;
	bool power;  /* the power was lost before */
	bool packs;  /* loose objects are packed too */
	bool begins; /* the ledger is made, and nothing else */
	long stride; /* 0: each step */
	const char *path;
};

#define SYNCS  "fsync,fdatasync,syncfs"
#define NAMES  "rename,link,mkdir,unlink"
#define WRITES "write,pwrite,ftruncate"

/* 5 EIO, 28 ENOSPC, 24 EMFILE. */
#define PLAN(n, c, w, t, ...)                                             \
	{                                                                 \
		.name = n, .calls = c, .what = w, .times = t, __VA_ARGS__ \
	}
#define DIES  .dies = true
#define POWER .power = true
#define FULL  WRITES ",open,mkdir,link"

/* Packing reads and removes file by file, creation makes 256 directories:
 * these steps are alike. */
#define PACKS   .packs = true, .stride = 2
#define CREATES .begins = true, .stride = 9

static const struct plan plans[] = {
	PLAN("die", "all", "die", "1", DIES),
	PLAN("torn-write", "write,pwrite", "torn", "1", DIES),
	PLAN("short-write", "write,pwrite", "short", "1", .path = NULL),
	PLAN("sync-fails", SYNCS, "5", "1", .path = NULL),
	PLAN("sync-fails-on", SYNCS, "5", "0", .path = NULL),
	PLAN("sync-no-space", SYNCS, "28", "1", .path = NULL),
	PLAN("rename-fails", NAMES, "5", "1", .path = NULL),
	PLAN("rename-fails-on", "rename,link", "5", "0", .stride = 4),
	PLAN("write-fails", WRITES, "5", "1", .path = NULL),
	PLAN("write-fails-on", WRITES, "5", "0", .path = NULL),
	PLAN("full", FULL, "28", "1", .path = NULL),
	PLAN("full-on", FULL, "28", "0", .path = NULL),
	PLAN("open-fails", "open", "24", "1", .path = NULL),
	PLAN("journal-full-on", "pwrite", "28", "0", .path = "/journal"),
	PLAN("journal-sync-on", "fdatasync", "5", "0", .path = "/journal"),
	PLAN("pack-die", "all", "die", "1", DIES, PACKS),
	PLAN("pack-sync-fails", SYNCS "," NAMES, "5", "1", PACKS),
	PLAN("pack-full", FULL, "28", "1", PACKS),
	PLAN("create-die", "all", "die", "1", DIES, CREATES),
	PLAN("create-fails", SYNCS "," NAMES, "5", "1", CREATES),
	PLAN("create-full", FULL, "28", "1", CREATES),
	PLAN("power-die", "all", "die", "1", DIES, POWER),
	PLAN("power-sync-fails", SYNCS "," NAMES, "5", "1", POWER),
	PLAN("power-full", WRITES ",open,mkdir", "28", "1", POWER),
};

static struct toy toy;
static char self[300], shim[300], mark[300];

/* The child. */

static struct ledger *ledger;
static int tell_fd;
static long round_number;
static int phase;

static void
tell(const struct claim *c)
{
	if (write(tell_fd, c, sizeof *c) != sizeof *c)
		_exit(30);
}

static void *
note_one(void *arg)
{
	char text[CLAIM_TEXT];
	struct claim c;

	snprintf(text, sizeof text, "round %ld, phase %d, thread %d",
	    round_number, phase, *(int *)arg);
	c = claim_note(ledger, text);
	tell(&c);
	return NULL;
}

static void
note_together(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	phase++;
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, note_one, &numbers[i]))
			_exit(31);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void
note_after(int try)
{
	char text[CLAIM_TEXT];
	struct claim c;

	snprintf(text, sizeof text, AFTER " %ld, try %d", round_number, try);
	c = claim_note(ledger, text);
	tell(&c);
}

static int
child(char **argv)
{
	struct payload p = { 0 };
	struct err e = { 0 };
	char content[4096];

	snprintf(toy.dir, sizeof toy.dir, "%s", argv[2]);
	toy_paths(&toy);
	tell_fd = (int)strtol(argv[3], NULL, 10);
	round_number = strtol(argv[4], NULL, 10);
	alarm(60);
	if (strcmp(argv[5], "create") == 0
		? toy_make(&toy, &e)
		: ledger_open(&toy.options, &ledger, &e)) {
		fprintf(
		    stderr, "%s: %s\n", e.kind ? e.kind->slug : "?", e.detail);
		return e.kind == &err_no_space      ? 20
		       : e.kind == &err_unavailable ? 21
		       : e.kind == &err_internal    ? 22
						    : 23;
	}
	if (strcmp(argv[5], "create") == 0)
		return 0;
	note_together();
	memset(content, 'x', sizeof content);
	ledger_store_payload(
	    ledger, (struct str){ content, sizeof content }, &p, NULL);
	ledger_sync(ledger, NULL);
	if (strcmp(argv[5], "pack") == 0) {
		size_t packed;

		ledger_pack(ledger, 15, &packed, NULL);
	}
	note_together();
	for (int try = 1; try <= AFTER_NOTES; try++)
		note_after(try);
	ledger_close(ledger);
	return 0;
}

/* The driver. */

static void
set_environment(const struct plan *p, long n)
{
	char at[24];

	snprintf(at, sizeof at, "%ld", n);
	setenv("FAULT_CALLS", p->calls, 1);
	setenv("FAULT_PATH", p->path ? p->path : toy.dir, 1);
	setenv("FAULT_DO", p->what, 1);
	setenv("FAULT_AT", at, 1);
	setenv("FAULT_TIMES", p->times, 1);
	setenv("FAULT_SAME", "4", 1);
	setenv("FAULT_MARK", mark, 1);
	setenv("LD_PRELOAD", shim, 1);
}

static pid_t
start(const struct plan *p, long n, int out)
{
	char fd[24], number[24];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	set_environment(p, n);
	snprintf(fd, sizeof fd, "%d", out);
	snprintf(number, sizeof number, "%ld", n);
	if (dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2) < 0)
		_exit(33);
	execl(self, self, "--child", toy.dir, fd, number,
	    p->begins  ? "create"
	    : p->packs ? "pack"
		       : "",
	    (char *)NULL);
	_exit(32);
}

/* Runs the work; 0 or the status it ended with. */
static int
work(const struct plan *p, long n, struct claims *claims)
{
	struct claim c;
	int ends[2], status;
	pid_t pid;

	if (pipe(ends))
		witness_die(&toy, "pipe");
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	pid = start(p, n, ends[1]);
	close(ends[1]);
	while (read(ends[0], &c, sizeof c) == sizeof c)
		claims_add(claims, &c);
	close(ends[0]);
	waitpid(pid, &status, 0);
	return status;
}

/* Notes that a killed child had begun and heard nothing of. */
static void
add_unanswered(struct claims *claims, long n)
{
	size_t told = claims->n;

	for (int ph = 1; ph <= 2; ph++)
		for (int i = 0; i < THREADS; i++) {
			struct claim c = { 0 };
			bool known = false;

			snprintf(c.text, sizeof c.text,
			    "round %ld, phase %d, thread %d", n, ph, i);
			for (size_t k = 0; k < told; k++)
				known = known ||
					!strcmp(claims->list[k].text, c.text);
			if (!known)
				claims_add(claims, &c);
		}
}

static bool
is_after(const struct claim *c)
{
	return strncmp(c->text, AFTER, strlen(AFTER)) == 0;
}

/* Faults of the disk are answered as such, and one fault is not the end. */
static void
check_answers(const struct plan *p, long n, const struct claims *claims)
{
	const struct claim *last = &claims->list[claims->n - 1];
	size_t acked_after = 0;

	for (size_t i = 0; i < claims->n; i++) {
		const struct claim *c = &claims->list[i];

		if (c->kind == CLAIM_REFUSED &&
		    strcmp(c->slug, "no-space") != 0 &&
		    strcmp(c->slug, "unavailable") != 0)
			witness_die(&toy, "%s, step %ld: answered %s: %s",
			    p->name, n, c->slug, c->detail);
		acked_after += is_after(c) && c->kind == CLAIM_ACKED;
	}
	/* The one strike can hit one of the last notes, whichever it is. */
	if (!strcmp(p->times, "1") &&
	    (!is_after(last) || acked_after < AFTER_NOTES - 1))
		witness_die(&toy, "%s, step %ld: does not go on: \"%s\" %s: %s",
		    p->name, n, last->text, last->slug, last->detail);
}

static void
check_end(const struct plan *p, long n, int status, const struct claims *claims)
{
	if (p->dies) {
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			witness_die(&toy, "%s, step %ld: was not killed (%d)",
			    p->name, n, status);
		return;
	}
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 20 || WEXITSTATUS(status) == 21))
		return;
	/* Making a ledger is an operator's business. */
	if (p->begins && WIFEXITED(status) && WEXITSTATUS(status) == 22)
		return;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		witness_die(&toy, "%s, step %ld: ended with status %x", p->name,
		    n, (unsigned)status);
	if (!p->begins)
		check_answers(p, n, claims);
}

/* Without any fault from here on. */
static void
check_after(const struct plan *p, long n, const struct claims *claims)
{
	struct err e = { 0 };
	struct ledger *l;
	struct claim c;

	if (p->power && drand48() < 0.3)
		power_loss(&toy);
	if (p->begins && toy_make(&toy, &e) && e.kind != &err_conflict)
		witness_die(&toy, "%s, step %ld: cannot be made: %s", p->name,
		    n, e.detail);
	if (n % 25 == 0) {
		witness_all(claims, &toy);
		return;
	}
	l = witness_open(&toy);
	claims_check(claims, &toy, l);
	c = claim_note(l, "between");
	if (c.kind != CLAIM_ACKED)
		witness_die(&toy, "%s, step %ld: afterwards: %s: %s", p->name,
		    n, c.slug, c.detail);
	if (n % 5 == 0)
		witness_verify(&toy, l);
	ledger_close(l);
}

/* False when the work was done without the n-th call. */
static bool
step(const struct plan *p, long n, struct claims *all)
{
	struct claims claims = { 0 };
	bool struck;
	int status;

	unlink(mark);
	if (p->begins && witness_shell("rm -rf '%s'/*", toy.dir) != 0)
		witness_die(&toy, "rm");
	if (p->power)
		power_loss(&toy);
	status = work(p, n, &claims);
	struck = access(mark, F_OK) == 0;
	if (struck) {
		check_end(p, n, status, &claims);
	} else if (status != 0 || claims.acked != claims.n) {
		witness_die(&toy, "%s, step %ld: fails though nothing failed",
		    p->name, n);
	}
	if (p->dies && !p->begins)
		add_unanswered(&claims, n);
	check_after(p, n, &claims);
	for (size_t i = 0; i < claims.n; i++)
		claims_add(all, &claims.list[i]);
	claims_clear(&claims);
	return struck;
}

/* What a round of packing that was cut short leaves is work for the next one,
 * which so may grow as fast as the steps: these grow, too. */
static long
next_stride(const struct plan *p, long n)
{
	return (p->stride ? p->stride : 1) + (p->packs ? n / 32 : 0);
}

static void
run(const struct plan *p)
{
	struct claims all = { 0 };
	struct timespec from, to;
	long n = 1, steps = 1;

	clock_gettime(CLOCK_MONOTONIC, &from);
	toy_create(&toy, witness_fast_dir());
	snprintf(mark, sizeof mark, "%s/../mark-%d", toy.dir, (int)getpid());
	for (; step(p, n, &all); steps++)
		if ((n += next_stride(p, n)) > STEPS_MAX)
			witness_die(&toy, "%s: no end", p->name);
	if (n < 2)
		witness_die(&toy, "%s: nothing was ever struck", p->name);
	witness_all(&all, &toy);
	unlink(mark);
	toy_remove(&toy);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%s: %ld steps; %zu acknowledged, %zu refused, %zu unknown;"
	       " %ld s\n",
	    p->name, steps, all.acked, all.refused, all.unknown,
	    (long)(to.tv_sec - from.tv_sec));
	fflush(stdout);
	claims_clear(&all);
}

static bool
is_wanted(const struct plan *p, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], p->name) == 0)
			return true;
	return argc < 2;
}

int
main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	if (argc == 6 && strcmp(argv[1], "--child") == 0)
		return child(argv);
	if (n < 0)
		return 1;
	self[n] = '\0';
	snprintf(shim, sizeof shim, "%s", self);
	slash = strrchr(shim, '/');
	snprintf(
	    slash, sizeof shim - (size_t)(slash - shim), "/shim_faults.so");
	srand48(time(NULL));
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
		if (is_wanted(&plans[i], argc, argv))
			run(&plans[i]);
	return 0;
}
