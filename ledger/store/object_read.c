#include <stdio.h>
#include <sys/stat.h>

#include "ledger/store/loose.h"

/* As stock git: packs are asked before loose files. */
#define PRIORITY_LOOSE 1
#define PRIORITY_PACK  2

/* A change this close to the moment of looking may not have moved the time. */
#define CLOCK_GRAIN_S 1

static struct timespec
packs_time(const struct repo *r)
{
	struct timespec now = { 0 }, none = { 0 };
	struct stat st;

	if (fstatat(r->objects, "pack", &st, 0))
		return none;
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec - st.st_mtim.tv_sec <= CLOCK_GRAIN_S)
		return none;
	return st.st_mtim;
}

static bool
packs_unchanged(const struct repo *r)
{
	struct timespec now = packs_time(r);

	return now.tv_sec && now.tv_sec == r->packs_at.tv_sec &&
	       now.tv_nsec == r->packs_at.tv_nsec;
}

/* Takes the backend over, also when it fails. */
static int
backend_add(git_odb *odb, git_odb_backend *b, int priority)
{
	int rc = git2.odb_add_backend(odb, b, priority);

	if (rc)
		b->free(b);
	return rc;
}

static int
add_packs(git_odb *odb, const char *path)
{
	git_odb_backend *b = NULL;

	return git2.odb_backend_pack(&b, path) ||
	       backend_add(odb, b, PRIORITY_PACK);
}

/* Loose files and packs of this repository alone: no alternates. */
static int
odb_build(const struct repo *r, git_odb **out)
{
	git_odb *odb = NULL;
	char path[4096];

	if ((size_t)snprintf(path, sizeof(path), "%s/objects", r->path) >=
	    sizeof(path))
		return -1;
	if (git2.odb_new(&odb))
		return -1;
	if (backend_add(odb, loose_backend_new(r->objects), PRIORITY_LOOSE) ||
	    (r->without ? repo_odb_add_others(r, odb) : add_packs(odb, path))) {
		git2.odb_free(odb);
		return -1;
	}
	*out = odb;
	return 0;
}

/*
 * Built anew rather than refreshed: libgit2 adds packs that appeared but keeps
 * the removed ones open for ever, and their space with them.
 */
int
repo_odb_renew(struct repo *r, bool always, struct err *e)
{
	struct timespec now = packs_time(r);
	git_odb *odb = NULL;

	/* A pack in memory is what it is. */
	if (!r->git || (!always && packs_unchanged(r)))
		return 0;
	if (odb_build(r, &odb) || git2.repository_set_odb(r->git, odb)) {
		git2.odb_free(odb);
		return repo_git_fail(
		    e, &err_unavailable, "cannot open the objects");
	}
	git2.odb_free(r->odb);
	r->odb = odb;
	r->packs_at = now;
	return 0;
}

static bool
has_now(const struct repo *r, const git_oid *id)
{
	return git2.odb_exists_ext(r->odb, id, GIT_ODB_LOOKUP_NO_REFRESH);
}

bool
repo_has(struct repo *r, struct oid o)
{
	git_oid id = oid_to_git(o);

	if (loose_exists(r, o))
		return true;
	return !repo_git(r, NULL) &&
	       (has_now(r, &id) ||
		   (!repo_odb_renew(r, false, NULL) && has_now(r, &id)));
}

static int
expect(struct oid o, git_object_t found, enum object_kind kind, size_t n,
    size_t max, struct err *e)
{
	char hex[OID_HEX + 1];

	oid_hex(o, hex);
	if (found != (git_object_t)kind)
		return err_set(
		    e, &err_corrupt, "object %s is of another kind", hex);
	if (n > max)
		return err_set(e, &err_too_large,
		    "object %s is longer than %zu bytes", hex, max);
	return 0;
}

/* From a loose file, straight into the arena: how whatever is new is read. 1
 * when there is no whole one. */
static int
read_loose(struct repo *r, struct oid o, enum object_kind kind, size_t max,
    struct arena *a, struct str *out, struct err *e)
{
	struct loose l;
	char *p;
	int rc = 1;

	if (loose_open(r->objects, o, &l) != LOOSE_OK)
		return 1;
	if (expect(o, l.kind, kind, l.size, max, e)) {
		rc = -1;
		goto out;
	}
	p = arena_alloc(a, l.size + 1);
	*out = (struct str){ p, l.size };
	if (loose_content(&l, p) && oid_eq(repo_oid_plain(kind, *out), o))
		rc = 0;
out:
	loose_close(&l);
	return rc;
}

/* From a pack, or once more from a loose file. libgit2 is told not to compare
 * the bytes with the id, since it is done here in a fifth of its time. */
static int
read_packed(struct repo *r, struct oid o, enum object_kind kind, size_t max,
    struct arena *a, struct str *out, struct err *e)
{
	git_oid id = oid_to_git(o);
	git_odb_object *object = NULL;
	char hex[OID_HEX + 1];
	git_object_t found;
	size_t n;
	int rc;

	if (git2.odb_read_header(&n, &found, r->odb, &id))
		return repo_git_fail(
		    e, &err_corrupt, "an object cannot be read");
	if (expect(o, found, kind, n, max, e))
		return -1;
	if (git2.odb_read(&object, r->odb, &id))
		return repo_git_fail(
		    e, &err_corrupt, "an object cannot be read");
	n = git2.odb_object_size(object);
	oid_hex(o, hex);
	rc = expect(o, git2.odb_object_type(object), kind, n, max, e);
	if (!rc && !object_is_whole(object))
		rc = err_set(e, &err_corrupt,
		    "object %s has other bytes than its id says", hex);
	if (!rc)
		*out = arena_str(
		    a, (struct str){ git2.odb_object_data(object), n });
	git2.odb_object_free(object);
	return rc;
}

int
repo_read(struct repo *r, struct oid o, enum object_kind kind, size_t max,
    struct arena *a, struct str *out, struct err *e)
{
	git_oid id = oid_to_git(o);
	struct err first = { 0 };
	int rc = read_loose(r, o, kind, max, a, out, e);

	if (rc <= 0)
		return rc;
	if (repo_git(r, e))
		return -1;
	if (!has_now(r, &id) && repo_odb_renew(r, false, e))
		return -1;
	if (!read_packed(r, o, kind, max, a, out, &first))
		return 0;
	/* A pack that we had opened may be gone since. */
	if (first.kind == &err_corrupt && !repo_odb_renew(r, true, e))
		return read_packed(r, o, kind, max, a, out, e);
	return err_set(e, first.kind, "%s", first.detail);
}
