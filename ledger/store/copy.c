#include "ledger/store/copy.h"

#include <stdio.h>
#include <stdlib.h>

#include "ledger/store/repo_git.h"

/* So many commits become one pack: what libgit2 holds in memory for them is
 * about a hundred bytes an object. */
#define COMMITS_A_PACK 20000

struct path {
	struct oid *oids; /* newest first */
	size_t n, room;
};

static void
path_add(struct path *p, struct oid oid)
{
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 1024;
		p->oids = reallocarray(p->oids, p->room, sizeof *p->oids);
		if (!p->oids)
			abort();
	}
	p->oids[p->n++] = oid;
}

/* The only parent; *has false at the first commit. */
static int
parent_of(struct repo *r, struct oid oid, struct oid *parent, bool *has,
    struct err *e)
{
	git_oid id = oid_to_git(oid);
	git_commit *c;

	if (git2.commit_lookup(&c, r->git, &id))
		return repo_git_fail(e, &err_corrupt, "a commit is missing");
	*has = git2.commit_parentcount(c) == 1;
	if (*has)
		*parent = oid_from_git(git2.commit_parent_id(c, 0));
	git2.commit_free(c);
	return 0;
}

/* From the tip back to where the copy ends. */
static int
find_path(struct repo *from, struct oid tip, const struct oid *end,
    struct path *p, struct err *e)
{
	struct oid at = tip;
	bool more = true;

	while (more && !(end && oid_eq(at, *end))) {
		path_add(p, at);
		if (parent_of(from, at, &at, &more, e))
			return -1;
	}
	if (end && !more)
		return err_set(e, &err_rolled_back,
		    "the copy's history is not the beginning of this one's");
	return 0;
}

static int
write_pack(struct repo *from, struct repo *to, const struct oid *oids, size_t n,
    struct err *e)
{
	git_packbuilder *pb = NULL;
	char *dir;
	int rc = -1;

	if (asprintf(&dir, "%s/objects/pack", to->path) < 0)
		abort();
	if (git2.packbuilder_new(&pb, from->git))
		goto out;
	git2.packbuilder_set_threads(pb, 1);
	for (size_t i = 0; i < n; i++) {
		git_oid id = oid_to_git(oids[i]);

		if (git2.packbuilder_insert_commit(pb, &id))
			goto out;
	}
	if (git2.packbuilder_write(pb, dir, 0444, NULL, NULL) == 0)
		rc = 0;
out:
	if (rc)
		repo_git_fail(e, &err_unavailable, "cannot write a pack");
	git2.packbuilder_free(pb);
	free(dir);
	return rc;
}

int
repo_copy_branch(struct repo *from, struct repo *to,
    const struct copy_progress *progress, uint64_t *commits, struct err *e)
{
	struct path p = { 0 };
	struct oid tip, end;
	bool exists, any;
	int rc = -1;

	*commits = 0;
	if (repo_git(from, e) || repo_branch(from, &tip, &exists, e) ||
	    repo_branch(to, &end, &any, e))
		return -1;
	if (!exists)
		return err_set(e, &err_not_found, "the ledger is empty");
	if (find_path(from, tip, any ? &end : NULL, &p, e))
		goto out;
	for (size_t left = p.n; left > 0;) {
		size_t n = left < COMMITS_A_PACK ? left : COMMITS_A_PACK;
		struct oid last = p.oids[left - n];

		if (write_pack(from, to, p.oids + left - n, n, e) ||
		    repo_sync(to, e) ||
		    repo_move_branch(to, any ? &end : NULL, last, false, e) ||
		    repo_sync(to, e))
			goto out;
		any = true;
		end = last;
		left -= n;
		if (progress && progress->call)
			progress->call(progress->arg, p.n - left, p.n);
	}
	*commits = p.n;
	rc = 0;
out:
	free(p.oids);
	return rc;
}
