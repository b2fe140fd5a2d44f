#include "ledger/store/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ledger/store/pack_set.h"

#define COMMIT_MAX ((size_t)1 << 20)
#define TREE_MAX   ((size_t)64 << 20)
#define TREE_DEPTH 8
#define SLICE      256

/* One run. Chosen objects are loose, not packed and reachable. */
struct packing {
	struct repo *repo;
	struct arena *arena;
	struct oid_list loose;
	bool *packed; /* of each loose object: it is in a pack already */
	bool *taken;  /* of each loose object: it is chosen */
	struct oid_list commits; /* newest first */
	struct oid_list chosen;
	git_odb *packs;
};

static bool
in_packs(const struct packing *p, struct oid o)
{
	git_oid id = oid_to_git(o);

	return git2.odb_exists_ext(p->packs, &id, GIT_ODB_LOOKUP_NO_REFRESH);
}

/* Two header lines: "tree <hex>" and, except in the first, "parent <hex>". */
static bool
commit_parse(
    struct str text, struct oid *tree, struct oid *parent, bool *has_parent)
{
	struct str first = str_take(&text, '\n'), second;

	if (!str_has_prefix(first, STR("tree ")) ||
	    !oid_from_hex(str_slice(first, 5, first.n), tree))
		return false;
	second = str_take(&text, '\n');
	*has_parent = str_has_prefix(second, STR("parent "));
	return !*has_parent ||
	       oid_from_hex(str_slice(second, 7, second.n), parent);
}

static int
commit_read(struct packing *p, struct oid commit, struct oid *tree,
    struct oid *parent, bool *has_parent, struct err *e)
{
	struct str text;

	arena_reset(p->arena);
	if (repo_read(
		p->repo, commit, OBJECT_COMMIT, COMMIT_MAX, p->arena, &text, e))
		return -1;
	if (!commit_parse(text, tree, parent, has_parent))
		return err_set(e, &err_corrupt, "a commit cannot be read");
	return 0;
}

/* Commits from the tip back to one that is packed: all before it are. */
static int
find_commits(struct packing *p, struct oid at, struct err *e)
{
	struct oid tree, parent;
	bool more = true;
	size_t i;

	while (more && oid_list_find(&p->loose, at, &i) && !p->packed[i]) {
		if (commit_read(p, at, &tree, &parent, &more, e))
			return -1;
		oid_list_add(&p->commits, at);
		at = parent;
	}
	if (more && !in_packs(p, at))
		return err_set(
		    e, &err_corrupt, "a commit is neither loose nor in a pack");
	return 0;
}

/* True when it is chosen now, false when it was before or is packed. */
static int
choose(struct packing *p, struct oid o, bool *fresh, struct err *e)
{
	size_t i;

	*fresh = false;
	if (!oid_list_find(&p->loose, o, &i))
		return in_packs(p, o)
			   ? 0
			   : err_set(e, &err_corrupt,
				 "an object is neither loose nor in a pack");
	if (p->packed[i] || p->taken[i])
		return 0;
	p->taken[i] = *fresh = true;
	oid_list_add(&p->chosen, o);
	return 0;
}

static int
choose_tree(struct packing *p, struct oid tree, int depth, struct err *e)
{
	struct tree_entry *entries;
	struct str bytes;
	bool fresh;
	size_t n;

	if (choose(p, tree, &fresh, e))
		return -1;
	if (!fresh)
		return 0;
	if (depth > TREE_DEPTH)
		return err_set(e, &err_corrupt, "git trees are too deep");
	if (repo_read(
		p->repo, tree, OBJECT_TREE, TREE_MAX, p->arena, &bytes, e) ||
	    tree_parse(p->arena, bytes, &entries, &n, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (entries[i].is_tree
			? choose_tree(p, entries[i].oid, depth + 1, e)
			: choose(p, entries[i].oid, &fresh, e))
			return -1;
	return 0;
}

/* Whole commits, the oldest first, so that what is packed is always a
 * beginning of the history. At least one, whatever the limit. */
static int
choose_commits(struct packing *p, size_t limit, struct err *e)
{
	for (size_t i = p->commits.n; i--;) {
		size_t before = p->chosen.n;
		struct oid tree, parent;
		bool more;

		if (commit_read(p, p->commits.p[i], &tree, &parent, &more, e) ||
		    choose(p, p->commits.p[i], &more, e) ||
		    choose_tree(p, tree, 0, e))
			return -1;
		if (before && p->chosen.n > limit) {
			p->chosen.n = before;
			break;
		}
	}
	return 0;
}

/* Loose copies go in short slices, so that no writer waits for long. */
static int
unlink_slices(struct repo *r, struct turn *turn, const struct oid_list *list,
    struct err *e)
{
	for (size_t i = 0; i < list->n;) {
		size_t stop = list->n - i < SLICE ? list->n : i + SLICE;
		int rc = 0;

		if (turn_take(turn, e))
			return -1;
		for (; !rc && i < stop; i++)
			rc = repo_unlink_loose(r, list->p[i], e);
		turn_release(turn);
		if (rc)
			return -1;
	}
	return 0;
}

/* Copies that a run which was broken off left beside a pack, or a writer that
 * did not look there. Whether those packs were synced nobody knows. */
static int
drop_copies(struct packing *p, const struct pack_list *packs, struct turn *turn,
    struct err *e)
{
	struct oid_list copies = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->loose.n; i++)
		if (p->packed[i])
			oid_list_add(&copies, p->loose.p[i]);
	if (copies.n)
		rc = pack_sync_all(p->repo, packs, e) ||
			     pack_read_back(p->packs, copies.p, copies.n, e) ||
			     unlink_slices(p->repo, turn, &copies, e)
			 ? -1
			 : 0;
	oid_list_free(&copies);
	return rc;
}

static int
look_around(struct packing *p, struct pack_list *packs, struct err *e)
{
	size_t n;

	if (loose_list(p->repo, SIZE_MAX, &p->loose, &n, e) ||
	    pack_list_read(p->repo, packs, e))
		return -1;
	p->packs = pack_odb(p->repo, packs, NULL, e);
	if (!p->packs)
		return -1;
	p->packed = calloc(n + 1, 1);
	p->taken = calloc(n + 1, 1);
	if (!p->packed || !p->taken)
		abort();
	for (size_t i = 0; i < n; i++)
		p->packed[i] = in_packs(p, p->loose.p[i]);
	return 0;
}

static int
pack_chosen(struct packing *p, struct turn *turn, struct err *e)
{
	char name[PACK_NAME];

	if (!p->chosen.n)
		return 0;
	if (pack_build(p->repo, p->chosen.p, p->chosen.n, name, e))
		return -1;
	return unlink_slices(p->repo, turn, &p->chosen, e);
}

static int
pack_now(
    struct repo *r, struct turn *turn, size_t limit, size_t *n, struct err *e)
{
	struct packing p = { .repo = r, .arena = arena_new() };
	struct pack_list packs = { 0 };
	struct oid tip;
	bool exists;
	int rc = -1;

	/* The branch first: all it reaches is there to be seen after that. */
	if (repo_branch(r, &tip, &exists, e) || look_around(&p, &packs, e) ||
	    drop_copies(&p, &packs, turn, e))
		goto out;
	if (exists &&
	    (find_commits(&p, tip, e) || choose_commits(&p, limit, e) ||
		pack_chosen(&p, turn, e)))
		goto out;
	*n = p.chosen.n;
	rc = pack_join(r, e);
out:
	git2.odb_free(p.packs);
	pack_list_free(&packs);
	oid_list_free(&p.loose);
	oid_list_free(&p.commits);
	oid_list_free(&p.chosen);
	free(p.packed);
	free(p.taken);
	arena_free(p.arena);
	return rc;
}

int
pack_loose(struct repo *r, struct turn *turn, size_t limit, size_t *packed,
    struct err *e)
{
	int lock =
	    openat(r->objects, "pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	*packed = 0;
	if (lock < 0)
		return err_errno(e, &err_unavailable,
		    "cannot open %s/objects/pack", r->path);
	/* Two at once would pack the same objects twice. */
	if (repo_git(r, e))
		rc = -1;
	else if (flock(lock, LOCK_EX | LOCK_NB) == 0)
		rc = pack_now(r, turn, limit, packed, e);
	else if (errno != EWOULDBLOCK)
		rc = err_errno(e, &err_unavailable,
		    "cannot lock the packs of %s", r->path);
	close(lock);
	return rc;
}

int
pack_count_loose(struct repo *r, size_t stop, size_t *n, struct err *e)
{
	return loose_list(r, stop, NULL, n, e);
}

int
pack_count(struct repo *r, size_t *n, struct err *e)
{
	struct pack_list list = { 0 };
	int rc = pack_list_read(r, &list, e);

	*n = list.n;
	pack_list_free(&list);
	return rc;
}
