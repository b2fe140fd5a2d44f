/*
 * A mirror before it is taken from. Two things are asked: that its whole
 * history verifies with the ledger's key, and that this history is the
 * ledger's, which its key alone does not say: the key's holder, or a thief,
 * could have signed another.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/write/healing.h"
#include "ledger/write/tiles.h"

const struct err_kind err_mirror_unfit = { "mirror-unfit",
	"The mirror cannot be taken from", 409, false,
	"Nothing was changed. Find another mirror or backup of this ledger." };

static void
set_add(struct commit_set *set, struct oid oid)
{
	if (set->n == set->room) {
		set->room = set->room ? 2 * set->room : 1024;
		set->p = reallocarray(set->p, set->room, sizeof *set->p);
		if (set->p == NULL)
			abort();
	}
	set->p[set->n++] = oid;
}

static int
compare_oids(const void *a, const void *b)
{
	return memcmp(a, b, OID_BYTES);
}

bool
heal_is_mirrored(const struct healing *h, struct oid commit)
{
	const struct commit_set *set = &h->mirrored;

	return set->n > 0 && bsearch(&commit, set->p, set->n, sizeof *set->p,
				 compare_oids) != NULL;
}

static int
unfit(struct err *e, const char *why)
{
	return err_set(e, &err_mirror_unfit, "the mirror %s", why);
}

/* Its commits, and how many events the newest says that there are. */
static int
list_commits(struct healing *h, uint64_t *size, struct err *e)
{
	struct arena *a = arena_new();
	struct trailers t = { 0 };
	struct commit c = { 0 };
	struct oid at;
	bool exists;
	int rc = -1;

	if (repo_branch(h->mirror, &at, &exists, NULL) || !exists) {
		unfit(e, "has no branch main");
		goto out;
	}
	do {
		arena_reset(a);
		if (commit_read(h->mirror, at, a, &c, NULL) ||
		    (h->mirrored.n == 0 &&
			trailers_parse(c.message, &t, NULL))) {
			unfit(e, "is damaged itself: a commit cannot be read");
			goto out;
		}
		set_add(&h->mirrored, at);
		at = c.parent;
	} while (c.has_parent);
	qsort(
	    h->mirrored.p, h->mirrored.n, sizeof *h->mirrored.p, compare_oids);
	*size = t.size;
	rc = 0;
out:
	arena_free(a);
	return rc;
}

/* A shorter one may be from before the key in force: compare_shorter binds it
 * to this ledger. err_corrupt is what it is of a ledger; of a mirror it is no
 * fault of ours. */
static int
verify_mirror(
    struct healing *h, uint64_t size, struct digest *root, struct err *e)
{
	struct verify_options o = { .key = h->s.key,
		.key_may_be_new = true,
		.own_key = h->s.has_view && size < h->s.view.size,
		.progress = h->how->progress,
		.progress_arg = h->how->arg };
	struct verify_report r;

	if (h->s.has_view && h->s.view.size <= size) {
		o.has_kept = true;
		o.kept = (struct checkpoint){ .origin = storage_origin(&h->s),
			.size = h->s.view.size,
			.root = merkle_root(&h->s.view.tree) };
	}
	if (verify_ledger(repo_path(h->mirror), &o, &r, e))
		return -1;
	*root = r.root;
	if (r.good)
		return 0;
	if (strcmp(r.check, "consistency") == 0)
		return unfit(e, "holds another history than this ledger");
	return err_set(e, &err_mirror_unfit,
	    "the mirror does not verify with this ledger's key: %s: %s, at"
	    " event %" PRIu64,
	    r.check, r.reason, r.failed_seq);
}

/* A shorter one has to be a beginning of what the read model tells of. */
static int
compare_shorter(
    struct healing *h, uint64_t size, struct digest root, struct err *e)
{
	struct arena *a = arena_new();
	struct tree tree = { h->s.view.size, tiles_node,
		tiles_new(a, h->s.db) };
	struct digest own;
	int rc = db_begin_read(h->s.db, e);

	if (rc == 0) {
		rc = tree_root(&tree, size, &own, e);
		db_rollback(h->s.db);
	}
	if (rc == 0 && !digest_eq(own, root))
		rc = unfit(e, "holds another history than this ledger");
	arena_free(a);
	return rc;
}

/* Without a read model the branch's own commit is the newest that is known. */
static int
compare_branch(struct healing *h, struct err *e)
{
	struct damage unused;
	struct oid tip;
	int rc = storage_branch(&h->s, &tip, &unused, e);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(e, &err_not_found,
		    "neither a branch nor a read model tells how far the"
		    " ledger had come: move ledger.git away and restore it");
	if (!heal_is_mirrored(h, tip))
		return unfit(e, "does not hold the newest batch of this ledger,"
				" and without a read model nothing else tells"
				" whether it is the same");
	return 0;
}

int
heal_open_mirror(struct healing *h, const char *from, struct err *e)
{
	struct err why = { 0 };
	struct digest root;
	uint64_t size;

	if (repo_open_for_reading(from, &h->mirror, &why))
		return err_set(e, &err_mirror_unfit,
		    "the mirror cannot be opened: %s", why.detail);
	if (list_commits(h, &size, e) || verify_mirror(h, size, &root, e))
		return -1;
	h->report->mirror_size = size;
	if (!h->s.has_view)
		return compare_branch(h, e);
	if (size < h->s.view.size)
		return compare_shorter(h, size, root, e);
	if (!heal_is_mirrored(h, h->s.view.commit))
		return unfit(e, "has other commits than this ledger");
	return 0;
}
