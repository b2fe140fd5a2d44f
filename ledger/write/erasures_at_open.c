/*
 * Erasures when a ledger is opened. What an opening found settled is not gone
 * through again by the next one, which may be that of a single request: the
 * file `erasures` in the ledger's directory says how the list and the table
 * looked. An older copy of the ledger comes with an older file, or none; keys
 * alone that were put back are for the worker, which looks at all of them
 * every minute.
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/write/content.h"
#include "ledger/write/writer.h"

#define SETTLED_MAX 128

static int
describe(struct ledger *l, struct arena *a, struct str *out, struct err *e)
{
	struct stat st = { 0 };
	struct reading r;
	int64_t last = 0;
	int rc;

	if (stat(arena_printf(a, "%s/erased", l->content_dir), &st) &&
	    errno != ENOENT)
		return err_errno(e, &err_unavailable, "the erasure list");
	if (ledger_read_begin(l, &r, e))
		return -1;
	rc = db_get_int(r.db, &last, 0, e,
	    "SELECT coalesce(max(seq), 0) FROM ledger_erasure", "");
	ledger_read_end(&r);
	*out =
	    arena_strf(a, "%ju %jd.%09ld %" PRId64 "\n", (uintmax_t)st.st_ino,
		(intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, last);
	return rc;
}

static bool
is_settled(const char *path, struct str as_it_is, struct arena *a)
{
	struct str was;

	return io_read_file(a, path, SETTLED_MAX, &was, NULL) == 0 &&
	       str_eq(was, as_it_is);
}

/* Described before it is settled, so that what came meanwhile is looked at. */
static int
settle_once(struct ledger *l, struct arena *a, struct err *e)
{
	char *path = arena_printf(a, "%s/erasures", l->dir);
	struct str as_it_is;

	if (describe(l, a, &as_it_is, e))
		return -1;
	if (is_settled(path, as_it_is, a))
		return 0;
	if (ledger_settle_erasures(l, e))
		return -1;
	/* Where it cannot be written the next opening does the work again. */
	(void)io_write_file(path, as_it_is, 0600, NULL);
	return 0;
}

/* Readers are refused what is erased, whatever is left to be done. */
void
erasures_at_open(struct ledger *l)
{
	struct arena *a = arena_new();
	struct err e = { 0 };

	if (settle_once(l, a, &e))
		log_line(LOG_ERROR, "ledger", "%.*s: erasures: %s",
		    STR_ARGS(l->origin), e.detail);
	arena_free(a);
}
