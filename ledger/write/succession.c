#include "ledger/write/succession.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/write/succession_steps.h"
#include "ledger/write/writer.h"

#define GENERATIONS_MAX 10000

struct run {
	const struct succession *s;
	struct arena *a;
	const char *dir, *keys;         /* in use */
	const char *new_dir, *new_keys; /* where the successor is made */
	const char *old_dirs, *old_keys;
	bool done; /* the successor is in its place */
};

static bool
exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static bool
has_ledger(struct arena *a, const char *dir)
{
	return exists(arena_printf(a, "%s/ledger.git", dir));
}

/* The last one's number; 0: there is none. */
static unsigned
last_generation(const struct run *r)
{
	unsigned n = 0;

	while (n < GENERATIONS_MAX &&
	       exists(arena_printf(r->a, "%s/%u", r->old_dirs, n + 1)))
		n++;
	return n;
}

static int
move(const char *from, const char *to, struct err *e)
{
	if (rename(from, to))
		return err_errno(
		    e, &err_unavailable, "cannot move %s to %s", from, to);
	return io_fsync_parent(to, e) || io_fsync_parent(from, e) ? -1 : 0;
}

/* Closes the ledger, or sees that it is closed for this successor. */
static int
close_old(struct run *r, struct ledger *l, struct err *e)
{
	const struct ledger_closed *wanted = &r->s->closing;
	struct ledger_closed closed;
	struct reading reading;
	int found;

	if (ledger_read_begin(l, &reading, e))
		return -1;
	found = ledger_read_closed(reading.db, r->a, &closed, e);
	ledger_read_end(&reading);
	if (found < 0 || (found == 0 && ledger_end(l, &r->s->actor, wanted, e)))
		return -1;
	if (found == 1 && !str_eq(closed.successor, wanted->successor))
		return err_set(e, &err_conflict,
		    "the ledger was closed for %.*s: give that as the"
		    " successor",
		    STR_ARGS(closed.successor));
	return ledger_sync(l, e);
}

/* What event 0 says. */
static int
read_opening(
    struct reading *reading, struct arena *a, struct opened *out, struct err *e)
{
	struct stored_event first = { 0 };

	if (ledger_read_event(reading, 0, a, &first, e))
		return -1;
	return opened_decode(first.recorded.event.data, out, e);
}

static int
opening_of(struct ledger *l, struct arena *a, struct opened *out, struct err *e)
{
	struct reading reading;
	int rc;

	if (ledger_read_begin(l, &reading, e))
		return -1;
	rc = read_opening(&reading, a, out, e);
	ledger_read_end(&reading);
	return rc;
}

static int
end_ledger(struct run *r, struct err *e)
{
	struct opened opened;
	struct ledger *l;
	int rc;

	if (!has_ledger(r->a, r->dir))
		return has_ledger(r->a, r->new_dir)
			   ? 0
			   : err_set(e, &err_not_found,
				 "there is no ledger at %s", r->dir);
	if (ledger_open(r->s->place, &l, e))
		return -1;
	rc = opening_of(l, r->a, &opened, e);
	r->done = rc == 0 && opened.continues.any &&
		  str_eq(ledger_origin(l), r->s->closing.successor);
	if (rc == 0 && !r->done)
		rc = close_old(r, l, e);
	ledger_close(l);
	return rc;
}

/* What the successor will continue, and begin with. */
static int
read_old(const struct run *r, struct continued *out, struct err *e)
{
	const struct succession *s = r->s;
	struct ledger_status status;
	struct reading reading;
	struct ledger *l;
	int rc;

	if (ledger_open(s->place, &l, e))
		return -1;
	rc = ledger_read_begin(l, &reading, e);
	if (rc == 0) {
		rc = ledger_read_status(&reading, r->a, &status, e);
		if (rc == 0 && s->read != NULL)
			rc = s->read(s->arg, &reading, e);
		ledger_read_end(&reading);
	}
	if (rc == 0) {
		*out = (struct continued){ .any = true,
			.size = status.size,
			.root = status.root,
			.head = status.head };
		snprintf(out->origin, sizeof out->origin, "%.*s",
		    STR_ARGS(ledger_origin(l)));
	}
	ledger_close(l);
	return rc;
}

static int
check_new(const struct run *r, struct ledger *l, const struct continued *old,
    struct err *e)
{
	const struct continued *c;
	struct opened opened;

	if (opening_of(l, r->a, &opened, e))
		return -1;
	c = &opened.continues;
	if (str_eq(ledger_origin(l), r->s->closing.successor) && c->any &&
	    strcmp(c->origin, old->origin) == 0 && c->size == old->size &&
	    digest_eq(c->root, old->root) && digest_eq(c->head, old->head))
		return 0;
	return err_set(e, &err_conflict,
	    "%s holds another ledger than the successor: move it away",
	    r->new_dir);
}

static int
begin_new(const struct run *r, struct ledger *l, struct err *e)
{
	const struct succession *s = r->s;
	struct command c = { .decide = s->begin,
		.arg = s->arg,
		.actor = s->actor,
		.arena = r->a };
	struct receipt receipt;

	if (ledger_submit(l, &c, &receipt, e))
		return -1;
	return ledger_sync(l, e);
}

/* Whole, and aside, before anything is moved. */
static int
make_successor(struct run *r, struct err *e)
{
	struct ledger_options o = *r->s->place;
	struct continued old;
	struct err cause = { 0 };
	struct ledger *l;
	int rc;

	if (r->done || !has_ledger(r->a, r->dir))
		return 0;
	if (read_old(r, &old, e))
		return -1;
	o.dir = r->new_dir;
	o.keys_dir = r->new_keys;
	o.origin = r->s->closing.successor;
	o.continues = &old;
	if (ledger_create(&o, &r->s->actor, &cause) &&
	    cause.kind != &err_conflict)
		return err_set(e, cause.kind, "%s", cause.detail);
	if (ledger_open(&o, &l, e))
		return -1;
	rc = check_new(r, l, &old, e);
	if (rc == 0)
		rc = begin_new(r, l, e);
	ledger_close(l);
	return rc;
}

/* With the turn: whoever has it finds the directory where it was. */
static int
move_ledger_aside(struct run *r, struct err *e)
{
	const char *to =
	    arena_printf(r->a, "%s/%u", r->old_dirs, last_generation(r) + 1);
	struct turn *turn = NULL;
	int rc = -1;

	if (r->done || !has_ledger(r->a, r->dir))
		return 0;
	if (io_make_dirs(r->old_dirs, 0700, e) == 0 &&
	    turn_open(r->dir, &turn, e) == 0 && turn_take(turn, e) == 0)
		rc = move(r->dir, to, e);
	turn_close(turn);
	return rc;
}

/* As long as the successor's keys wait, those in their place are the closed
 * ledger's. */
static int
move_keys_aside(struct run *r, struct err *e)
{
	const char *to =
	    arena_printf(r->a, "%s/%u", r->old_keys, last_generation(r));

	if (r->done || !exists(r->new_keys) || !exists(r->keys))
		return 0;
	return io_make_dirs(r->old_keys, 0700, e) || move(r->keys, to, e) ? -1
									  : 0;
}

static int
move_keys_in(struct run *r, struct err *e)
{
	if (r->done || !exists(r->new_keys))
		return 0;
	return move(r->new_keys, r->keys, e);
}

/* Last, so that nobody finds the ledger with the other one's keys. */
static int
move_ledger_in(struct run *r, struct err *e)
{
	if (r->done || !has_ledger(r->a, r->new_dir))
		return 0;
	return move(r->new_dir, r->dir, e);
}

static int (*const steps[])(struct run *, struct err *) = { end_ledger,
	make_successor, move_ledger_aside, move_keys_aside, move_keys_in,
	move_ledger_in };
const size_t succession_steps = sizeof steps / sizeof *steps;

static void
run_init(struct run *r, const struct succession *s)
{
	const char *dir = s->place->dir, *keys = s->place->keys_dir;
	struct arena *a = arena_new();

	*r = (struct run){
		.s = s,
		.a = a,
		.dir = dir,
		.keys = keys,
		.new_dir = arena_printf(a, "%s.successor", dir),
		.new_keys = arena_printf(a, "%s.successor", keys),
		.old_dirs = arena_printf(a, "%s.closed", dir),
		.old_keys = arena_printf(a, "%s.closed", keys),
	};
}

/* One at a time: by a lock of the directory that all of them lie in. */
static int
lock_place(const struct run *r, int *fd, struct err *e)
{
	*fd = open(arena_printf(r->a, "%s/..", r->dir),
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT)
		*fd = open(arena_printf(r->a, "%s/..", r->new_dir),
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return err_set(
		    e, &err_not_found, "there is no ledger at %s", r->dir);
	if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	close(*fd);
	return err_set(e, &err_conflict,
	    "another command is closing a ledger of this workspace");
}

static int
run_locked(
    struct run *r, size_t n, struct succession_report *report, struct err *e)
{
	struct opened opened;
	struct ledger *l;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = steps[i](r, e);
	if (rc || report == NULL)
		return rc;
	if (ledger_open(r->s->place, &l, e))
		return -1;
	rc = opening_of(l, r->a, &opened, e);
	report->closed = opened.continues;
	report->key = opened.key;
	report->generation = last_generation(r);
	snprintf(report->origin, sizeof report->origin, "%.*s",
	    STR_ARGS(ledger_origin(l)));
	ledger_close(l);
	return rc;
}

static int
run(const struct succession *s, size_t n, struct succession_report *report,
    struct err *e)
{
	struct run r;
	int lock, rc;

	run_init(&r, s);
	rc = lock_place(&r, &lock, e);
	if (rc == 0) {
		rc = run_locked(&r, n, report, e);
		close(lock);
	}
	arena_free(r.a);
	return rc;
}

int
succession_run(const struct succession *s, size_t n, struct err *e)
{
	return run(s, n, NULL, e);
}

int
ledger_succeed(
    const struct succession *s, struct succession_report *report, struct err *e)
{
	*report = (struct succession_report){ 0 };
	return run(s, succession_steps, report, e);
}

int
succession_check(const char *dir, struct err *e)
{
	struct arena *a = arena_new();
	int rc = 0;

	if (!has_ledger(a, dir) &&
	    has_ledger(a, arena_printf(a, "%s.successor", dir)))
		rc = err_set(e, &err_unavailable,
		    "the ledger was closed and the one that continues it is"
		    " not in its place yet; the command ledger close, given"
		    " again, finishes that");
	arena_free(a);
	return rc;
}
