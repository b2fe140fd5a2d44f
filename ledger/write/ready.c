#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/write/writer.h"

/* Where publishing from the journal has come to. */
struct publication {
	struct oid branch;
	bool exists;
	bool known; /* the branch was seen at a record's parent or commit */
	bool redo;  /* objects on the disk may be torn */
};

static int
write_objects(
    struct ledger *l, const struct record *r, bool redo, struct err *e)
{
	for (size_t i = 0; redo && i < r->n_objects; i++)
		if (repo_unlink_loose(l->repo, r->objects[i].oid, e))
			return -1;
	return repo_write(l->repo, r->objects, r->n_objects, e);
}

static int
publish_record(struct ledger *l, const struct record *r, struct publication *p,
    struct err *e)
{
	bool at_parent = r->has_parent
			     ? p->exists && oid_eq(p->branch, r->parent)
			     : !p->exists;
	bool at_commit = p->exists && oid_eq(p->branch, r->commit);

	p->known = p->known || at_parent || at_commit;
	if ((at_parent || p->redo) && write_objects(l, r, p->redo, e))
		return -1;
	if (!at_parent)
		return 0;
	if (repo_move_branch(l->repo, r->has_parent ? &r->parent : NULL,
		r->commit, false, e))
		return -1;
	p->branch = r->commit;
	p->exists = true;
	return 0;
}

static int
publish_records(struct ledger *l, struct publication *p, struct err *e)
{
	uint64_t at = journal_start(l->journal);
	struct record r;
	int rc;

	arena_reset(l->arena);
	while ((rc = journal_read(l->journal, &at, l->arena, &r, e)) == 1) {
		if (publish_record(l, &r, p, e))
			return -1;
		arena_reset(l->arena);
	}
	return rc;
}

/* The last whole record's commit, looking from a position on; *any false when
 * there is no record. */
static int
last_commit(
    struct ledger *l, uint64_t from, struct oid *last, bool *any, struct err *e)
{
	struct record r;
	int rc;

	arena_reset(l->arena);
	rc = journal_read_last(l->journal, from, l->arena, &r, e);
	*any = rc == 1;
	if (*any)
		*last = r.commit;
	arena_reset(l->arena);
	return rc < 0 ? -1 : 0;
}

/* After a lost boot the reference itself may be torn, or older than every
 * record; the journal's last record says where it has to be. */
static int
force_branch(struct ledger *l, struct err *e)
{
	struct oid last;
	bool any;

	if (last_commit(l, journal_start(l->journal), &last, &any, e))
		return -1;
	if (!any)
		return err_set(e, &err_corrupt,
		    "refs/heads/main is unreadable and the journal is empty");
	return repo_move_branch(l->repo, NULL, last, true, e);
}

static int
read_branch(struct ledger *l, struct publication *p, struct err *e)
{
	struct err why = { 0 };

	if (repo_branch(l->repo, &p->branch, &p->exists, &why) == 0)
		return 0;
	if (why.kind != &err_corrupt || !p->redo)
		return err_set(e, why.kind, "%s", why.detail);
	log_line(
	    LOG_WARN, "ledger", "branch torn after a crash: %s", why.detail);
	if (force_branch(l, e))
		return -1;
	return repo_branch(l->repo, &p->branch, &p->exists, e);
}

/* Whether the branch is where the last record says. Then that record was synced
 * by whoever published it, and a process that just began need not do it again.
 */
static int
is_published(struct ledger *l, const struct publication *p, bool *published,
    struct err *e)
{
	uint64_t start = journal_start(l->journal);
	uint64_t from = l->published > start ? l->published : start;
	struct oid last;
	bool any;

	if (last_commit(l, from, &last, &any, e))
		return -1;
	*published = !any || (p->exists && oid_eq(p->branch, last));
	return 0;
}

/* The objects are whole and synced: the next boot has nothing to do again. */
static int
end_redo(struct ledger *l, struct err *e)
{
	if (repo_sync(l->repo, e) ||
	    journal_free(l->journal, journal_end(l->journal), e) ||
	    journal_mark_boot(l->journal, e))
		return -1;
	l->torn = false;
	return 0;
}

/*
 * After a lost boot the file that names the branch may be the one from two
 * batches ago, with what it said then: it is written over, and its old content
 * may be what reached the disk. So a few commits before the journal's first
 * are as good as that one's parent.
 */
#define OLDER 8

static int
is_older_branch(
    struct ledger *l, const struct publication *p, bool *older, struct err *e)
{
	uint64_t at = journal_start(l->journal);
	struct record r;
	struct commit c;

	*older = false;
	arena_reset(l->arena);
	if (!p->exists || journal_read(l->journal, &at, l->arena, &r, e) != 1)
		return 0;
	c = (struct commit){ .has_parent = r.has_parent, .parent = r.parent };
	for (int i = 0; i < OLDER && c.has_parent && !*older; i++) {
		*older = oid_eq(c.parent, p->branch);
		if (!*older && commit_read(l->repo, c.parent, l->arena, &c, e))
			return -1;
	}
	return 0;
}

static int
follow_journal(struct ledger *l, struct publication *p, struct err *e)
{
	struct oid last;
	bool any, older;

	if (last_commit(l, journal_start(l->journal), &last, &any, e) || !any)
		return -1;
	if (!p->known) {
		if (is_older_branch(l, p, &older, e))
			return -1;
		p->known = older;
	}
	if (p->known)
		p->branch = last;
	return 0;
}

/* Every whole record is made durable, then published. */
static int
publish_all(struct ledger *l, struct publication *p, struct err *e)
{
	bool any;

	if (journal_recover(l->journal, e) ||
	    /* Who comes after us, if we die on the way, has to go on with it.
	     */
	    (p->redo && journal_doubt_boot(l->journal, e)) ||
	    publish_records(l, p, e))
		return -1;
	any = journal_start(l->journal) != journal_end(l->journal);
	if (any && p->redo && follow_journal(l, p, e))
		return -1;
	if (any && !p->known)
		return err_set(e, &err_rolled_back,
		    "the branch is not where the journal's batches begin");
	if (!p->redo)
		return 0;
	/* The file that names the branch may be lost like the objects. */
	if (any && repo_move_branch(l->repo, &p->branch, p->branch, true, e))
		return -1;
	return end_redo(l, e);
}

static int
finish_journal(struct ledger *l, struct err *e)
{
	struct publication p = { .redo = l->torn ||
					 journal_from_other_boot(l->journal) };
	bool published = false;

	if (read_branch(l, &p, e))
		return -1;
	if (!p.redo && !l->failed && is_published(l, &p, &published, e))
		return -1;
	if (!published && publish_all(l, &p, e))
		return -1;
	l->published = journal_end(l->journal);
	return 0;
}

int
ledger_settle_journal(struct ledger *l, struct err *e)
{
	if (journal_refresh(l->journal, e))
		return -1;
	if (!l->unsure && !l->failed && !l->torn &&
	    !journal_from_other_boot(l->journal) &&
	    journal_end(l->journal) == l->published)
		return 0;
	return finish_journal(l, e);
}

/* The read model follows the branch. */
static int
settle_view(struct ledger *l, struct err *e)
{
	const struct position *p = &l->position;
	struct oid tip;
	bool exists;

	if (repo_branch(l->repo, &tip, &exists, e))
		return -1;
	if (!l->unsure && !l->failed && exists == p->has_commit &&
	    (!exists || oid_eq(tip, p->commit)))
		return 0;
	if (schema_ensure(l, e) || position_load(l->db, &l->position, e) ||
	    keys_load(l, e))
		return -1;
	if (!exists && p->has_commit)
		return err_set(e, &err_rolled_back,
		    "the branch is gone, but %llu events were recorded",
		    (unsigned long long)p->size);
	if (!exists || (p->has_commit && oid_eq(tip, p->commit)))
		return 0;
	return catch_up(l, tip, 4096, NULL, e);
}

static void
check_space(struct ledger *l, struct err *e)
{
	uint64_t free_bytes;

	if (io_free_bytes(l->dir, &free_bytes, e))
		return;
	if (free_bytes < l->free_floor)
		err_set(e, &err_no_space,
		    "%llu MiB are free, %llu are kept as a reserve",
		    (unsigned long long)(free_bytes >> 20),
		    (unsigned long long)(l->free_floor >> 20));
}

int
ledger_settle(struct ledger *l, struct err *e)
{
	struct draft *d = &l->draft;

	err_clear(&d->no_space);
	err_clear(&d->no_clock);
	err_clear(&d->no_mark);
	err_clear(&d->no_more);
	if (moved_check(l, e) || ledger_settle_journal(l, e) ||
	    settle_view(l, e) || closing_note(l, e)) {
		l->failed = true;
		return -1;
	}
	l->unsure = l->failed = false;
	keys_wait(l);
	check_space(l, &d->no_space);
	anchor_check(l, &d->no_clock);
	high_water_check(l, &d->no_mark);
	return 0;
}

int
ledger_ready(struct ledger *l, struct err *e)
{
	return ledger_settle(l, e) ? -1 : keys_settle(l, e);
}
