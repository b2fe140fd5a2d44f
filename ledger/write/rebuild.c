#include "ledger/write/writer.h"

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

/* With the turn. What is damaged need not be readable: it is begun anew, so
 * that nothing of the damage is built upon. */
static int
open_sound_view(struct ledger *l, struct err *e)
{
	bool damaged;

	if (db_is_damaged(l->db_path, &damaged, e) ||
	    (damaged && db_empty(l->db_path, e)))
		return -1;
	return db_open(l->db_path, DB_WRITE, &l->db, e);
}

int
ledger_rebuild(const struct ledger_options *o,
    void (*progress)(void *, uint64_t done, uint64_t total), void *arg,
    uint64_t *events, struct err *e)
{
	struct progress p = { progress, arg };
	struct ledger *l;
	int rc;

	if (ledger_open_without_view(o, false, &l, e))
		return -1;
	rc = ledger_take_turn(l, e);
	if (rc == 0) {
		rc = ledger_settle_journal(l, e);
		if (rc == 0)
			rc = open_sound_view(l, e);
		if (rc == 0)
			rc = project_anew(l, &p, e);
		ledger_release_turn(l);
	}
	*events = l->position.size;
	ledger_close(l);
	return rc;
}
