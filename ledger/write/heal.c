#include "ledger/write/heal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/write/healing.h"

static void
tell(struct healing *h, const struct damage *d, bool mended)
{
	if (mended)
		h->report->mended++;
	else
		h->report->left++;
	if (h->how->outcome)
		h->how->outcome(h->how->arg, d, mended);
}

static int
check_space(struct healing *h, struct err *e)
{
	uint64_t free_bytes;

	if (io_free_bytes(h->o->dir, &free_bytes, e))
		return -1;
	if (free_bytes >= h->floor)
		return 0;
	return err_set(e, &err_no_space,
	    "%" PRIu64 " MiB are free, %" PRIu64 " are kept as a reserve; make"
	    " room and heal again",
	    free_bytes >> 20, h->floor >> 20);
}

static int
write_object(
    struct healing *h, const struct wanting *w, struct str bytes, struct err *e)
{
	struct object o = { .kind = w->kind, .bytes = bytes };
	struct err why = { 0 };

	if (check_space(h, e))
		return -1;
	/* Once more, with an eye on collisions. */
	if (repo_oid(o.kind, o.bytes, &o.oid, &why) || !oid_eq(o.oid, w->oid))
		return err_set(e, &err_mirror_unfit,
		    "the mirror gave other bytes than it was asked for");
	return repo_write_anew(h->repo, &o, e);
}

/* From where it can be had: 1, 0 nowhere, -1. *own: it was here all the time,
 * in a pack that is to go. */
static int
find_bytes(struct healing *h, const struct wanting *w, struct arena *a,
    struct str *bytes, bool *own, struct err *e)
{
	struct err why = { 0 };

	*own = false;
	if (w->max == 0)
		return 0; /* no object: a batch that says something wrong */
	if (w->seen.readable) {
		*bytes = w->seen.bytes;
		return 1;
	}
	*own =
	    repo_read(h->s.repo, w->oid, w->kind, w->max, a, bytes, NULL) == 0;
	if (*own)
		return 1;
	if (!heal_is_mirrored(h, w->commit))
		return 0;
	if (repo_read(h->mirror, w->oid, w->kind, w->max, a, bytes, &why) == 0)
		return 1;
	return why.kind == &err_corrupt
		   ? 0
		   : err_set(e, why.kind, "%s", why.detail);
}

static int
mend(void *arg, const struct wanting *w, struct arena *a, struct str *bytes,
    struct err *e)
{
	struct healing *h = arg;
	bool own;
	int rc = find_bytes(h, w, a, bytes, &own, e);

	if (rc == 1 && write_object(h, w, *bytes, e))
		return -1;
	if (rc < 0)
		return -1;
	if (own)
		h->report->moved++;
	else
		tell(h, &w->damage, rc == 1);
	return rc;
}

/* For the list of batches where there is no read model. */
static int
read_or_mend(
    void *arg, struct oid oid, struct arena *a, struct commit *c, struct err *e)
{
	struct healing *h = arg;
	struct repo *from = heal_is_mirrored(h, oid) ? h->mirror : h->s.repo;

	return commit_read(from, oid, a, c, e) ? -1 : 1;
}

/* A branch that is ahead of the read model is followed, through the mirror
 * where its commits are damaged here: it never goes back. */
static int
list_batches(struct healing *h, struct err *e)
{
	struct commit_source source = { read_or_mend, h };
	struct damage d;
	bool exists, whole;
	int rc = storage_branch(&h->s, &h->tip, &d, e);

	if (rc < 0)
		return -1;
	h->branch_bad = rc == 0;
	if (h->branch_bad &&
	    repo_branch(h->s.repo, &h->tip, &exists, NULL) == 0 && exists &&
	    !storage_find(&h->s, h->tip))
		h->branch_bad = false;
	if (!h->branch_bad)
		return storage_walk(&h->s, h->tip, &source, &whole, e);
	h->tip = h->s.view.commit;
	return 0;
}

static int
find_bad_packs(struct healing *h, struct err *e)
{
	struct pack_names all = { 0 };
	int rc = inspect_list_packs(h->repo, &all, e);

	for (size_t i = 0; rc == 0 && i < all.n; i++) {
		struct pack_inspection seen;

		rc = inspect_pack(h->repo, all.p[i], NULL, &seen, e);
		if (rc == 0 && seen.damaged)
			pack_names_add(&h->bad, all.p[i]);
	}
	pack_names_free(&all);
	return rc == 0 ? inspect_pass_over(h->repo, &h->bad, e) : -1;
}

static int
mend_objects(struct healing *h, struct err *e)
{
	struct examination exam = {
		.repo = h->repo, .nobody_packs = true, .wanting = mend, .arg = h
	};

	for (size_t i = 0; i < h->s.n; i++) {
		const struct batch_ref *b = &h->s.batches[i];

		if (examine_batch(&exam, b, e))
			return -1;
		h->report->events += b->count;
		if (h->how->progress)
			h->how->progress(h->how->arg, b->first + b->count,
			    storage_size(&h->s));
	}
	return 0;
}

/* The branch may have been put right in the meantime. */
static int
move_with_turn(struct healing *h, struct err *e)
{
	struct damage d;
	struct oid now;
	bool exists = false;
	int rc = storage_branch(&h->s, &now, &d, e);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (repo_branch(h->repo, &now, &exists, NULL))
		exists = false;
	return repo_move_branch(h->repo, exists ? &now : NULL, h->tip, true, e);
}

static int
move_branch(struct healing *h, struct err *e)
{
	struct turn *turn;
	int rc;

	if (turn_open(h->o->dir, &turn, e))
		return -1;
	rc = turn_take(turn, e);
	if (rc == 0) {
		rc = move_with_turn(h, e);
		turn_release(turn);
	}
	turn_close(turn);
	return rc ? -1 : repo_sync(h->repo, e);
}

static int
verify_all(struct healing *h, struct err *e)
{
	struct verify_options o = { .key = h->s.key,
		.key_may_be_new = true,
		.progress = h->how->progress,
		.progress_arg = h->how->arg };
	struct verify_report r;

	if (h->s.has_view) {
		o.has_kept = true;
		o.kept = (struct checkpoint){ .origin = storage_origin(&h->s),
			.size = h->s.view.size,
			.root = merkle_root(&h->s.view.tree) };
	}
	if (verify_ledger(h->s.path, &o, &r, e))
		return -1;
	if (r.good)
		return 0;
	return err_set(e, &err_corrupt,
	    "what was mended does not verify: %s: %s, at event %" PRIu64,
	    r.check, r.reason, r.failed_seq);
}

static void
tell_packs(struct healing *h, bool mended)
{
	for (size_t i = 0; i < h->bad.n; i++) {
		struct damage d = { .kind = "pack" };

		memcpy(d.name, h->bad.p[i], sizeof h->bad.p[i]);
		tell(h, &d, mended);
	}
}

static void
tell_branch(struct healing *h, bool mended)
{
	struct damage d = { .kind = "branch", .name = "refs/heads/main" };

	if (h->branch_bad)
		tell(h, &d, mended);
}

/* With every object whole: the branch, then what is not needed any more. If it
 * does not verify without the packs, they come back. */
static int
finish(struct healing *h, struct err *e)
{
	if (repo_sync(h->repo, e))
		return -1;
	if (h->report->left > 0) {
		tell_branch(h, false);
		tell_packs(h, false);
		return 0;
	}
	if ((h->branch_bad && move_branch(h, e)) ||
	    (h->bad.n > 0 && packs_put_aside(h->repo, &h->bad, e)))
		return -1;
	if ((h->report->mended > 0 || h->branch_bad || h->bad.n > 0) &&
	    verify_all(h, e)) {
		if (h->bad.n > 0)
			packs_put_back(h->repo, &h->bad, NULL);
		return -1;
	}
	tell_branch(h, true);
	tell_packs(h, true);
	return 0;
}

static int
heal(struct healing *h, const char *from, struct err *e)
{
	int lock, rc = -1;

	if (heal_open_mirror(h, from, e) || repo_open(h->s.path, &h->repo, e) ||
	    packs_lock(h->repo, &lock, e))
		return -1;
	if (list_batches(h, e) == 0 && find_bad_packs(h, e) == 0 &&
	    mend_objects(h, e) == 0)
		rc = finish(h, e);
	packs_unlock(lock);
	return rc;
}

/* What the journal holds is published first, if that can still be done: then
 * the read model tells of every batch. What it tells now is kept, lest opening
 * make it anew and fail half way. */
static int
open_settled(const struct ledger_options *o, struct storage *s, struct err *e)
{
	struct err why = { 0 };
	struct ledger *l;

	if (storage_open(o, s, e))
		return -1;
	if (ledger_open(o, &l, &why)) {
		log_line(LOG_WARN, "ledger", "before healing: %s", why.detail);
		return 0;
	}
	ledger_close(l);
	storage_close(s);
	return storage_open(o, s, e);
}

int
ledger_heal(const struct ledger_options *o, const char *from,
    const struct heal_options *how, struct heal_report *report, struct err *e)
{
	struct healing h = { .o = o,
		.how = how,
		.report = report,
		.floor = o->free_floor ? o->free_floor : LEDGER_FREE_FLOOR };
	int rc = -1;

	*report = (struct heal_report){ 0 };
	if (open_settled(o, &h.s, e) == 0)
		rc = heal(&h, from, e);
	if (h.mirror)
		repo_close(h.mirror);
	if (h.repo)
		repo_close(h.repo);
	pack_names_free(&h.bad);
	free(h.mirrored.p);
	storage_close(&h.s);
	return rc;
}
