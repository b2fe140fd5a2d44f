/*
 * How far the key may have signed: a number in the file `signed` beside the
 * key, ahead of the ledger by a stride at most. The ledger's directory and the
 * keys' are kept apart, so a host whose ledger was put back to an earlier state
 * finds a number there that it cannot explain, and signs nothing: a second
 * history of the same sizes would be a fork.
 *
 * The number is moved ahead after a batch was answered, without the turn; a
 * batch waits for it only where writers outran that.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/base/private.h"
#include "ledger/write/writer.h"

#define FIRST_LINE "probity-signed/v1"

/* "probity-signed/v1 <origin> <size>" LF. 0 where there is no file. */
int
high_water_read(
    const char *path, struct str origin, uint64_t *mark, struct err *e)
{
	struct arena *a = arena_new();
	struct err why = { 0 };
	struct str s, first, name;
	int rc = io_read_file(a, path, 512, &s, &why);

	*mark = 0;
	if (rc == 0) {
		s = str_take(&s, '\n');
		first = str_take(&s, ' ');
		name = str_take(&s, ' ');
		if (!str_is(first, FIRST_LINE) || !str_eq(name, origin) ||
		    !str_to_u64(s, mark))
			rc = err_set(e, &err_unavailable,
			    "%s is not what this program wrote", path);
	} else if (why.kind == &err_not_found) {
		rc = 0;
	} else {
		err_own(e, &err_unavailable, &why);
	}
	arena_free(a);
	return rc;
}

static int
write_mark(const struct ledger *l, uint64_t mark, struct err *e)
{
	struct arena *a = arena_new();
	char *text = arena_printf(
	    a, FIRST_LINE " %.*s %" PRIu64 "\n", STR_ARGS(l->origin), mark);
	int rc = io_write_file(l->mark_path, str_from(text), 0600, e);

	arena_free(a);
	return rc;
}

/* Processes do this one after the other, so that the number never falls. */
static int
lock_marks(const struct ledger *l, struct err *e)
{
	struct arena *a = arena_new();
	char *path = arena_printf(a, "%s.lock", l->mark_path);
	int fd =
	    private_open(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		err_errno(e, &err_unavailable, "cannot lock %s", path);
	arena_free(a);
	return fd;
}

static int
move_ahead(struct ledger *l, uint64_t size, struct err *e)
{
	int lock = lock_marks(l, e);
	uint64_t mark;
	int rc = -1;

	if (lock < 0)
		return -1;
	if (high_water_read(l->mark_path, l->origin, &mark, e) == 0) {
		rc = 0;
		if (mark < size + HIGH_WATER_STRIDE / 2) {
			mark = size + HIGH_WATER_STRIDE;
			rc = write_mark(l, mark, e);
		}
	}
	close(lock);
	if (rc == 0)
		atomic_store(&l->mark, mark);
	return rc;
}

int
high_water_check(struct ledger *l, struct err *e)
{
	uint64_t size = l->position.size, mark = atomic_load(&l->mark);

	if (mark < size + BATCH_EVENTS &&
	    high_water_read(l->mark_path, l->origin, &mark, e))
		return -1;
	if (mark > size + HIGH_WATER_STRIDE)
		return err_set(e, &err_rolled_back,
		    "the key may have signed up to %" PRIu64
		    " events, but here are %" PRIu64
		    ": this is an older copy of the ledger; bring back a"
		    " newer one",
		    mark, size);
	if (mark < size + BATCH_EVENTS)
		return move_ahead(l, size, e);
	atomic_store(&l->mark, mark);
	return 0;
}

bool
high_water_is_near(struct ledger *l)
{
	return atomic_load(&l->mark) < l->position.size + HIGH_WATER_STRIDE / 2;
}

void
high_water_move(struct ledger *l, uint64_t size)
{
	struct err e = { 0 };

	/* The next batch tries again, and says so to its callers. */
	if (move_ahead(l, size, &e))
		log_line(LOG_ERROR, "ledger", "%s", e.detail);
}
