/*
 * A ledger's directory is moved aside when its successor takes its place, with
 * the turn held. Objects that were opened before would find the successor
 * behind the same paths: they look, and do nothing more.
 */
#include <errno.h>
#include <sys/stat.h>

#include "ledger/write/writer.h"

static bool
identify(const char *dir, struct directory_id *id)
{
	struct stat st;

	*id = (struct directory_id){ 0 };
	if (stat(dir, &st))
		return false;
	*id = (struct directory_id){ st.st_dev, st.st_ino };
	return true;
}

int
moved_note(struct ledger *l, struct err *e)
{
	if (identify(l->dir, &l->opened_dir))
		return 0;
	if (errno != ENOENT)
		return err_errno(
		    e, &err_unavailable, "cannot look at %s", l->dir);
	return err_set(e, &err_not_found, "there is no ledger at %s", l->dir);
}

bool
ledger_is_moved(const struct ledger *l)
{
	struct directory_id now;

	return !identify(l->dir, &now) || now.inode != l->opened_dir.inode ||
	       now.device != l->opened_dir.device;
}

int
moved_check(const struct ledger *l, struct err *e)
{
	if (!ledger_is_moved(l))
		return 0;
	return err_set(e, &err_unavailable,
	    "the ledger was closed; the one that continues it is opened");
}
