#include "ledger/write/writer.h"

int
origin_read(struct repo *repo, struct arena *a, struct str *out, struct err *e)
{
	struct checkpoint c;
	struct batch b;
	struct note note;
	struct oid tip;
	bool exists;

	*out = STR_NONE;
	if (repo_branch(repo, &tip, &exists, e))
		return -1;
	if (!exists)
		return 0;
	if (batch_read(repo, tip, a, &b, e) ||
	    note_parse(a, b.checkpoint, &note, e) ||
	    checkpoint_parse(note.text, &c, e))
		return -1;
	*out = c.origin;
	return 0;
}

int
ledger_find_origin(
    const char *dir, struct arena *a, struct str *out, struct err *e)
{
	struct repo *repo;
	int rc;

	if (repo_open_for_reading(
		arena_printf(a, "%s/ledger.git", dir), &repo, e))
		return -1;
	rc = origin_read(repo, a, out, e);
	repo_close(repo);
	if (rc == 0 && out->p == NULL)
		rc = err_set(
		    e, &err_not_found, "the ledger at %s is empty", dir);
	return rc;
}
