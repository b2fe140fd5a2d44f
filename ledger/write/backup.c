#include "ledger/write/backup_steps.h"

#include <inttypes.h>
#include <unistd.h>

#include "ledger/write/writer.h"

const struct err_kind err_backup_unusable = { "backup-unusable",
	"What is there is no good backup of this ledger", 503, false,
	"Give the path of a backup of this ledger; a new one is begun at a path "
	"where there is nothing yet." };
const struct err_kind err_backup_old = { "backup-old",
	"The backup is not up to what is known of the ledger", 503, false,
	"Find a newer backup, a mirror or a clone; docs/operations.md, "
	"Restoring, says how to go on without one." };

int
backup_refuse(const char *path, const struct err *why, struct err *e)
{
	const struct err_kind *kind = why->kind;

	if (kind == &err_rolled_back)
		kind = &err_backup_old;
	else if (kind == &err_corrupt || kind->status < 500)
		kind = &err_backup_unusable;
	return err_set(e, kind, "%s: %.400s", path, why->detail);
}

/* The checkpoint that the repository's branch ends with, if its signature is
 * by the key of that size: 1, 0 when the branch is not there. */
static int
newest_checkpoint(struct repo *r, const struct signers *keys, struct arena *a,
    struct checkpoint *out, struct err *e)
{
	const struct signers_key *key;
	struct batch b;
	struct note note;
	struct oid tip;
	bool exists;

	if (repo_branch(r, &tip, &exists, e))
		return -1;
	if (!exists)
		return 0;
	if (batch_read(r, tip, a, &b, e) ||
	    note_parse(a, b.checkpoint, &note, e) ||
	    checkpoint_parse(note.text, out, e))
		return -1;
	key = out->size > 0 ? signers_at(keys, out->size - 1) : NULL;
	if (!key || !note_verify(&note, out->origin, key->key))
		return err_set(e, &err_corrupt,
		    "the copy's newest checkpoint is not signed by this"
		    " ledger's key");
	return 1;
}

int
backup_verify(const char *path, struct public_key key,
    const struct checkpoint *kept, const struct note *note, bool quick,
    const struct backup_watch *watch, struct verify_report *r, struct err *e)
{
	struct verify_options o = { .key = key,
		.key_may_be_new = true,
		.kept_note = note,
		.quick = quick,
		.progress = watch->verifying,
		.progress_arg = watch->verifying_arg };

	if (kept != NULL) {
		o.has_kept = true;
		o.kept = *kept;
	}
	if (verify_ledger(path, &o, r, e))
		return -1;
	if (r->good)
		return 0;
	return err_set(e,
	    str_is(STR("consistency"), r->check) ? &err_rolled_back
						 : &err_corrupt,
	    "the copy does not verify: %s, at event %" PRIu64, r->reason,
	    r->failed_seq);
}

int
backup_copy(const char *from, const char *to, const struct backup_watch *watch,
    uint64_t *commits, struct err *e)
{
	struct repo *source = NULL, *target = NULL;
	int rc = -1;

	if (repo_open_for_reading(from, &source, e) == 0 &&
	    repo_open(to, &target, e) == 0)
		rc = repo_copy_branch(
		    source, target, &watch->copying, commits, e);
	repo_close(source);
	repo_close(target);
	return rc;
}

/* What the backup ended with before: 1, or 0 for a new one. */
static int
open_backup(const char *to, const struct signers *keys, struct arena *a,
    struct checkpoint *before, struct err *e)
{
	struct err why = { 0 };
	struct repo *r;
	int found;

	if (access(to, F_OK) != 0)
		return repo_create(to, e) ? -1 : 0;
	if (repo_open(to, &r, &why))
		return backup_refuse(to, &why, e);
	found = newest_checkpoint(r, keys, a, before, &why);
	repo_close(r);
	return found < 0 ? backup_refuse(to, &why, e) : found;
}

/* Opening settles what the journal holds, so that the branch is whole. */
static int
find_keys(const struct ledger_options *o, struct signers *keys, struct err *e)
{
	struct ledger *l;

	if (ledger_open(o, &l, e))
		return -1;
	*keys = l->keys;
	keys->origin = STR_NONE;
	ledger_close(l);
	return 0;
}

int
ledger_backup(const struct ledger_options *o, const char *to,
    const struct backup_watch *watch, struct backup_report *report,
    struct err *e)
{
	struct arena *a = arena_new();
	char *from = arena_printf(a, "%s/ledger.git", o->dir);
	struct checkpoint before;
	struct signers keys;
	int rc = -1, found;

	if (find_keys(o, &keys, e) == 0 &&
	    (found = open_backup(to, &keys, a, &before, e)) >= 0 &&
	    backup_copy(from, to, watch, &report->commits, e) == 0)
		rc = backup_verify(to, keys.keys[0].key, found ? &before : NULL,
		    NULL, false, watch, &report->verify, e);
	arena_free(a);
	return rc;
}
