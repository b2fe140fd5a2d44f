#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/write/writer.h"

/* A read model that SQLite cannot even open is no use to anybody. */
static void
remove_unreadable(const struct ledger_options *o)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	struct arena *a = arena_new();
	char *path = arena_printf(a, "%s/state.db", o->dir);
	struct err e = { 0 };
	struct db *db = NULL;

	if (access(path, F_OK) == 0 && db_open(path, DB_WRITE, &db, &e) &&
	    e.kind == &err_corrupt)
		for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
			unlink(arena_printf(a, "%s%s", path, ends[i]));
	db_close(db);
	arena_free(a);
}

/* In one transaction: readers see the old tables until the new ones are
 * whole. */
int
project_anew(struct ledger *l, const struct progress *progress, struct err *e)
{
	struct oid tip;
	bool exists;

	if (repo_branch(l->repo, &tip, &exists, e) || db_begin_write(l->db, e))
		return -1;
	l->position = (struct position){ 0 };
	l->keys.n = 0;
	if (schema_reset(l, e) ||
	    (exists && catch_up(l, tip, 0, progress, e)) ||
	    db_commit(l->db, e)) {
		db_rollback(l->db);
		return -1;
	}
	return 0;
}

int
ledger_rebuild(const struct ledger_options *o,
    void (*progress)(void *, uint64_t done, uint64_t total), void *arg,
    uint64_t *events, struct err *e)
{
	struct progress p = { progress, arg };
	struct ledger *l;
	int rc;

	remove_unreadable(o);
	if (ledger_open_unsettled(o, false, &l, e))
		return -1;
	rc = ledger_take_turn(l, e);
	if (rc == 0) {
		rc = ledger_settle_journal(l, e);
		if (rc == 0)
			rc = project_anew(l, &p, e);
		ledger_release_turn(l);
	}
	*events = l->position.size;
	ledger_close(l);
	return rc;
}
