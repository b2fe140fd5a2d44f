#include "ledger/base/buf.h"
#include "ledger/store/pack.h"
#include "ledger/store/repo_git.h"

#define COMMIT_MAX  ((size_t)1 << 20)
#define TREE_MAX    ((size_t)64 << 20)
#define TREE_DEPTH  2
#define OBJECT_MORE 64 /* beside an object's own bytes, in a pack */

/* One pack in the making. */
struct one_pack {
	struct repo *repo;
	struct arena *arena;
	git_packbuilder *builder;
	size_t room; /* bytes that the objects may still have */
};

/* Looks at the length first: the builder reads whole objects. */
static int
insert(struct one_pack *p, struct oid o, struct err *e)
{
	git_oid id = oid_to_git(o);
	git_object_t type;
	size_t n;

	if (git2.odb_read_header(&n, &type, p->repo->odb, &id))
		return repo_git_fail(e, &err_corrupt, "an object is missing");
	if (n > p->room)
		return err_set(
		    e, &err_too_large, "the batch is too large for one pack");
	p->room -= n;
	if (git2.packbuilder_insert(p->builder, &id, NULL))
		return repo_git_fail(e, &err_corrupt, "an object is missing");
	return 0;
}

static int
insert_tree(struct one_pack *p, struct oid tree, int depth, struct err *e)
{
	struct tree_entry *entries;
	struct str bytes;
	size_t n;
	int rc = 0;

	if (depth > TREE_DEPTH)
		return err_set(e, &err_corrupt, "git trees are too deep");
	if (insert(p, tree, e) ||
	    repo_read(
		p->repo, tree, OBJECT_TREE, TREE_MAX, p->arena, &bytes, e) ||
	    tree_parse(p->arena, bytes, &entries, &n, e))
		return -1;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = entries[i].is_tree
			 ? insert_tree(p, entries[i].oid, depth + 1, e)
			 : insert(p, entries[i].oid, e);
	return rc;
}

/* The object's first line is "tree <hex>". */
static int
insert_commit(struct one_pack *p, struct oid commit, struct err *e)
{
	struct str text;
	struct oid tree;

	if (repo_read(
		p->repo, commit, OBJECT_COMMIT, COMMIT_MAX, p->arena, &text, e))
		return -1;
	text = str_take(&text, '\n');
	if (!str_has_prefix(text, STR("tree ")) ||
	    !oid_from_hex(str_slice(text, 5, text.n), &tree))
		return err_set(e, &err_corrupt, "a commit cannot be read");
	return insert(p, commit, e) || insert_tree(p, tree, 1, e) ? -1 : 0;
}

static int
take_piece(void *piece, size_t n, void *out)
{
	buf_add(out, (struct str){ piece, n });
	return buf_failed(out) ? -1 : 0;
}

static int
write_out(struct one_pack *p, size_t max, struct str *out, struct err *e)
{
	size_t n = git2.packbuilder_object_count(p->builder);
	struct buf b;
	int rc;

	buf_init(&b, max + (n + 1) * OBJECT_MORE + max / 1000);
	rc = git2.packbuilder_foreach(p->builder, take_piece, &b);
	if (rc || buf_failed(&b))
		rc = repo_git_fail(e, &err_corrupt, "cannot write a pack");
	else
		*out = arena_str(p->arena, buf_str(&b));
	buf_fini(&b);
	return rc;
}

static int
build(struct repo *r, struct oid commit, size_t max, struct arena *a,
    struct str *out, struct err *e)
{
	struct one_pack p = { r, a, NULL, max };
	int rc = -1;

	if (git2.packbuilder_new(&p.builder, r->git))
		return repo_git_fail(e, &err_internal, "cannot begin a pack");
	/* More threads find other deltas each time. */
	git2.packbuilder_set_threads(p.builder, 1);
	if (insert_commit(&p, commit, e) == 0)
		rc = write_out(&p, max, out, e);
	git2.packbuilder_free(p.builder);
	return rc;
}

int
pack_commit(struct repo *r, struct oid commit, size_t max, struct arena *a,
    struct str *out, struct err *e)
{
	struct err first = { 0 };

	if (repo_git(r, e))
		return -1;
	if (build(r, commit, max, a, out, &first) == 0)
		return 0;
	/* A pack that we had opened may be gone since. */
	if (first.kind == &err_corrupt && repo_odb_renew(r, true, e) == 0)
		return build(r, commit, max, a, out, e);
	return err_set(e, first.kind, "%s", first.detail);
}
