/*
 * SQLite fails at each step: an I/O error at each of its reads, writes, syncs
 * and locks, a full disk at each write, no memory at each allocation; once,
 * and from there on until the end of a round.
 *
 *	fault_sqlite [PLAN …]
 *
 * A round is three notes at once, one alone and a sync, with the ledger held
 * open from round to round, or opened in each. After each round everything
 * acknowledged is there, everything refused is not, and the next note works.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/witness.h"

#define THREADS   3
#define STEPS_MAX 6000

enum kind { READS = 1, WRITES = 2, MEMORY = 4 };

struct plan {
	const char *name;
	int kind;
	int code;
	bool on;    /* from there on, not once */
	bool opens; /* the ledger is opened in each round */
	long stride;
};

static const struct plan plans[] = {
	{ "io", READS | WRITES, SQLITE_IOERR, false, false, 1 },
	{ "io-on", READS | WRITES, SQLITE_IOERR, true, false, 1 },
	{ "io-open", READS | WRITES, SQLITE_IOERR, false, true, 1 },
	{ "full", WRITES, SQLITE_FULL, false, false, 1 },
	{ "full-on", WRITES, SQLITE_FULL, true, false, 1 },
	{ "memory", MEMORY, SQLITE_NOMEM, false, false, 1 },
	{ "memory-on", MEMORY, SQLITE_NOMEM, true, false, 1 },
	{ "memory-open", MEMORY, SQLITE_NOMEM, false, true, 4 },
};

/* When to fail. */

static const struct plan *plan;
static atomic_long counted;
static long strike_at; /* 0: never */
static atomic_bool struck;

static bool
strikes(int kind)
{
	long n;

	if (strike_at == 0 || !(plan->kind & kind))
		return false;
	n = atomic_fetch_add(&counted, 1) + 1;
	if (n < strike_at || (n > strike_at && !plan->on))
		return false;
	atomic_store(&struck, true);
	return true;
}

static void
arm(long at)
{
	atomic_store(&counted, 0);
	atomic_store(&struck, false);
	strike_at = at;
}

static void
disarm(void)
{
	strike_at = 0;
}

/* Memory. */

static sqlite3_mem_methods memory;

static void *
memory_new(int n)
{
	return strikes(MEMORY) ? NULL : memory.xMalloc(n);
}

static void *
memory_more(void *p, int n)
{
	return strikes(MEMORY) ? NULL : memory.xRealloc(p, n);
}

/* Files: the default VFS, with a hand in between. Without xFetch, so that
 * every read is a call. */

struct file {
	sqlite3_file base;
	sqlite3_file *real;
};

static sqlite3_vfs *real_vfs;

static sqlite3_file *
real(sqlite3_file *f)
{
	return ((struct file *)(void *)f)->real;
}

#define OR_REAL(kind, error, call) \
	(strikes(kind) ? (error) : real(f)->pMethods->call)
#define WRITE_ERROR(error) (plan->code == SQLITE_FULL ? SQLITE_FULL : (error))

static int
file_close(sqlite3_file *f)
{
	int rc = real(f)->pMethods->xClose(real(f));

	free(real(f));
	return rc;
}

static int
file_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	return OR_REAL(READS, SQLITE_IOERR_READ, xRead(real(f), p, n, at));
}

static int
file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	return OR_REAL(
	    WRITES, WRITE_ERROR(SQLITE_IOERR_WRITE), xWrite(real(f), p, n, at));
}

static int
file_truncate(sqlite3_file *f, sqlite3_int64 n)
{
	return OR_REAL(
	    WRITES, WRITE_ERROR(SQLITE_IOERR_TRUNCATE), xTruncate(real(f), n));
}

static int
file_sync(sqlite3_file *f, int flags)
{
	return OR_REAL(
	    WRITES, WRITE_ERROR(SQLITE_IOERR_FSYNC), xSync(real(f), flags));
}

static int
file_size(sqlite3_file *f, sqlite3_int64 *n)
{
	return OR_REAL(READS, SQLITE_IOERR_FSTAT, xFileSize(real(f), n));
}

static int
file_lock(sqlite3_file *f, int how)
{
	return OR_REAL(READS, SQLITE_IOERR_LOCK, xLock(real(f), how));
}

static int
file_unlock(sqlite3_file *f, int how)
{
	return real(f)->pMethods->xUnlock(real(f), how);
}

static int
file_is_reserved(sqlite3_file *f, int *out)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int
file_control(sqlite3_file *f, int op, void *arg)
{
	return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int
file_sector(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int
file_traits(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int
file_shm_map(sqlite3_file *f, int page, int n, int extend, void volatile **out)
{
	*out = NULL;
	return OR_REAL(
	    READS, SQLITE_IOERR_SHMMAP, xShmMap(real(f), page, n, extend, out));
}

static int
file_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
	if (flags & SQLITE_SHM_UNLOCK)
		return real(f)->pMethods->xShmLock(real(f), at, n, flags);
	return OR_REAL(
	    READS, SQLITE_IOERR_SHMLOCK, xShmLock(real(f), at, n, flags));
}

static void
file_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int
file_shm_unmap(sqlite3_file *f, int remove)
{
	return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
	.xShmMap = file_shm_map,
	.xShmLock = file_shm_lock,
	.xShmBarrier = file_shm_barrier,
	.xShmUnmap = file_shm_unmap,
};

static int
vfs_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct file *mine = (struct file *)(void *)f;
	int rc;

	(void)v;
	f->pMethods = NULL;
	if (strikes(READS))
		return SQLITE_CANTOPEN;
	mine->real = calloc(1, (size_t)real_vfs->szOsFile);
	if (mine->real == NULL)
		abort();
	rc = real_vfs->xOpen(real_vfs, name, mine->real, flags, out);
	if (rc == SQLITE_OK)
		f->pMethods = &methods;
	else
		free(mine->real);
	return rc;
}

static void
install(void)
{
	static sqlite3_vfs vfs;
	sqlite3_mem_methods mine;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
	mine = memory;
	mine.xMalloc = memory_new;
	mine.xRealloc = memory_more;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &mine);
	sqlite3_initialize();
	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.zName = "faulty";
	vfs.szOsFile = (int)sizeof(struct file);
	vfs.xOpen = vfs_open;
	sqlite3_vfs_register(&vfs, 1);
}

/* The work. */

static struct toy toy;
static struct ledger *ledger;

struct noting {
	pthread_t thread;
	char text[CLAIM_TEXT];
	struct claim claim;
};

static void *
note_one(void *arg)
{
	struct noting *n = arg;

	n->claim = claim_note(ledger, n->text);
	return NULL;
}

static void
note_all(struct noting *notes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&notes[i].thread, NULL, note_one, &notes[i]))
			abort();
	for (size_t i = 0; i < n; i++)
		pthread_join(notes[i].thread, NULL);
}

static void
read_something(void)
{
	struct reading r;
	struct err e = { 0 };
	int64_t n;

	if (ledger_read_begin(ledger, &r, &e))
		return;
	db_get_int(r.db, &n, 0, &e, "SELECT count(*) FROM toy", "");
	ledger_read_end(&r);
}

static void
check_refusal(long step, const struct claim *c)
{
	if (c->kind == CLAIM_REFUSED && strcmp(c->slug, "no-space") != 0 &&
	    strcmp(c->slug, "unavailable") != 0)
		witness_die(&toy, "%s, step %ld: answered %s: %s", plan->name,
		    step, c->slug, c->detail);
}

static void
note_in_round(long step, struct claims *claims)
{
	struct noting notes[THREADS + 1];

	for (size_t i = 0; i <= THREADS; i++)
		snprintf(
		    notes[i].text, CLAIM_TEXT, "step %ld, note %zu", step, i);
	note_all(notes, THREADS);
	read_something();
	ledger_sync(ledger, NULL);
	note_all(notes + THREADS, 1);
	for (size_t i = 0; i <= THREADS; i++) {
		check_refusal(step, &notes[i].claim);
		claims_add(claims, &notes[i].claim);
	}
}

/* Opening may fail; then it is tried again without a fault. */
static void
open_in_round(long step)
{
	struct err e = { 0 };

	if (ledger_open(&toy.options, &ledger, &e) == 0)
		return;
	if (e.kind != &err_unavailable && e.kind != &err_no_space)
		witness_die(&toy, "%s, step %ld: opening: %s: %s", plan->name,
		    step, e.kind ? e.kind->slug : "?", e.detail);
	disarm();
	ledger = witness_open(&toy);
}

static bool
round_of(long step, struct claims *all)
{
	struct claims claims = { 0 };
	struct claim after;

	arm(step);
	if (plan->opens)
		open_in_round(step);
	note_in_round(step, &claims);
	disarm();
	after = claim_note(ledger, "after");
	if (after.kind != CLAIM_ACKED)
		witness_die(&toy, "%s, step %ld: does not go on: %s: %s",
		    plan->name, step, after.slug, after.detail);
	claims_check(&claims, &toy, ledger);
	if (plan->opens)
		ledger_close(ledger);
	for (size_t i = 0; i < claims.n; i++)
		claims_add(all, &claims.list[i]);
	claims_clear(&claims);
	return atomic_load(&struck);
}

static void
run(const struct plan *p)
{
	struct claims all = { 0 };
	struct timespec from, to;
	long step = 1;

	clock_gettime(CLOCK_MONOTONIC, &from);
	plan = p;
	toy_create(&toy, witness_fast_dir());
	if (!p->opens)
		ledger = witness_open(&toy);
	while (round_of(step, &all))
		if ((step += p->stride) > STEPS_MAX)
			witness_die(&toy, "%s: no end", p->name);
	if (step == 1)
		witness_die(&toy, "%s: nothing was ever struck", p->name);
	if (!p->opens)
		ledger_close(ledger);
	witness_all(&all, &toy);
	toy_remove(&toy);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%s: %ld steps; %zu acknowledged, %zu refused, %zu unknown;"
	       " %ld s\n",
	    p->name, step / p->stride, all.acked, all.refused, all.unknown,
	    (long)(to.tv_sec - from.tv_sec));
	fflush(stdout);
	claims_clear(&all);
}

int
main(int argc, char **argv)
{
	install();
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		bool wanted = argc < 2;

		for (int k = 1; k < argc; k++)
			wanted = wanted || !strcmp(argv[k], plans[i].name);
		if (wanted)
			run(&plans[i]);
	}
	return 0;
}
