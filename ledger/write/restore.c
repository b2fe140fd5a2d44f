/*
 * A ledger put back from a backup. It is made beside its place, verified there,
 * held to everything that is known of the ledger that is gone, and only then
 * given its name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/write/backup_steps.h"
#include "ledger/write/succession.h"
#include "ledger/write/writer.h"

struct restoring {
	const struct ledger_options *o;
	const struct backup_watch *watch;
	struct backup_report *report;
	struct arena *a;
	struct public_key key;
	const char *from;
	char *path, *aside;
};

static int
load_key(struct restoring *r, struct err *e)
{
	char *path = arena_printf(r->a, "%s/signing.key", r->o->keys_dir);
	struct private_key *key;

	if (private_key_load(path, &key, e))
		return -1;
	r->key = private_key_public(key);
	private_key_free(key);
	return 0;
}

/* What a read model left behind says of the ledger: 1, 0 when there is none
 * that can be read. */
static int
left_behind(struct restoring *r, struct checkpoint *out)
{
	char *path = arena_printf(r->a, "%s/state.db", r->o->dir);
	struct position p;
	struct db *db;
	bool found;

	if (access(path, F_OK) != 0 || db_open(path, DB_READ, &db, NULL))
		return 0;
	found = position_load(db, &p, NULL) == 0 && p.size > 0;
	db_close(db);
	if (found)
		*out = (struct checkpoint){ .size = p.size,
			.root = merkle_root(&p.tree) };
	return found;
}

/* The key's own count, for a backup of this size. */
static int
check_count(struct restoring *r, struct err *e)
{
	const struct verify_report *v = &r->report->verify;
	char *path = arena_printf(r->a, "%s/signed", r->o->keys_dir);
	uint64_t mark;

	if (high_water_read(path, str_from(v->origin), &mark, e))
		return -1;
	if (mark <= v->size + HIGH_WATER_STRIDE)
		return 0;
	return err_set(e, &err_backup_old,
	    "the key may have signed up to %" PRIu64
	    " events, the backup has %" PRIu64 ": find a newer one",
	    mark, v->size);
}

static int
not_ours(struct err *e)
{
	return err_set(e, &err_invalid,
	    "the checkpoint is not one that this ledger's key signed");
}

static int
read_kept(struct restoring *r, struct str text, struct note *note,
    struct checkpoint *out, struct err *e)
{
	if (note_parse(r->a, note_kept(text), note, NULL) ||
	    checkpoint_parse(note->text, out, NULL))
		return not_ours(e);
	return 0;
}

static int
check(struct restoring *r, struct str kept_note, struct err *e)
{
	struct verify_report again, *v = &r->report->verify;
	struct checkpoint known, *kept = NULL;
	struct err why = { 0 };
	struct note note;

	if (kept_note.p) {
		kept = &known;
		if (read_kept(r, kept_note, &note, kept, e))
			return -1;
	}
	if (backup_verify(r->aside, r->key, kept, kept ? &note : NULL, false,
		r->watch, v, &why))
		return why.kind == &err_malformed
			   ? not_ours(e)
			   : backup_refuse(r->from, &why, e);
	if (left_behind(r, &known)) {
		known.origin = str_from(v->origin);
		if (backup_verify(r->aside, r->key, &known, NULL, true,
			r->watch, &again, &why))
			return backup_refuse(r->from, &why, e);
	}
	return check_count(r, e);
}

static int
put_in_place(struct restoring *r, struct err *e)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	uint64_t events;

	if (rename(r->aside, r->path))
		return err_errno(
		    e, &err_unavailable, "cannot make %s", r->path);
	if (io_fsync_parent(r->path, e))
		return -1;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		unlink(arena_printf(r->a, "%s/state.db%s", r->o->dir, ends[i]));
	return ledger_rebuild(
	    r->o, r->watch->verifying, r->watch->verifying_arg, &events, e);
}

static int
copy(struct restoring *r, struct err *e)
{
	struct err why = { 0 };

	if (backup_copy(r->from, r->aside, r->watch, &r->report->commits, &why))
		return backup_refuse(r->from, &why, e);
	return 0;
}

static int
restore(struct restoring *r, struct str kept_note, struct err *e)
{
	if (access(r->path, F_OK) == 0)
		return err_set(e, &err_conflict,
		    "there is a ledger at %s: move it away first", r->path);
	if (succession_check(r->o->dir, e) || load_key(r, e) ||
	    io_make_dirs(r->o->dir, 0700, e))
		return -1;
	/* What an attempt that was cut short left. */
	(void)io_remove_tree(r->aside);
	if (repo_create(r->aside, e))
		return -1;
	if (copy(r, e) || check(r, kept_note, e)) {
		(void)io_remove_tree(r->aside);
		return -1;
	}
	return put_in_place(r, e);
}

int
ledger_restore(const struct ledger_options *o, const char *from,
    struct str kept_note, const struct backup_watch *watch,
    struct backup_report *report, struct err *e)
{
	struct restoring r = {
		.o = o, .watch = watch, .report = report, .a = arena_new()
	};
	int rc;

	r.from = from;
	r.path = arena_printf(r.a, "%s/ledger.git", o->dir);
	r.aside = arena_printf(r.a, "%s.restoring", r.path);
	*report = (struct backup_report){ 0 };
	rc = restore(&r, kept_note, e);
	arena_free(r.a);
	return rc;
}
