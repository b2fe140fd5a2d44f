#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <git2/sys/odb_backend.h>

#include "ledger/store/inspect.h"
#include "ledger/store/pack_set.h"

/* Path of a file of the pack, malloc'ed. */
static char *
pack_path(const struct repo *r, const char *name, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s/objects/pack/%s%s", r->path, name, suffix) < 0)
		abort();
	return path;
}

/* Adds the one pack as a backend. */
static int
odb_add_pack(const struct repo *r, git_odb *odb, const char *name)
{
	char *path = pack_path(r, name, ".idx");
	git_odb_backend *b = NULL;
	int rc = git2.odb_backend_one_pack(&b, path);

	free(path);
	if (!rc && (rc = git2.odb_add_backend(odb, b, 1)))
		b->free(b);
	return rc;
}

int
repo_odb_add_others(const struct repo *r, git_odb *odb)
{
	struct pack_names all = { 0 };
	int rc = inspect_list_packs(r, &all, NULL);

	for (size_t i = 0; !rc && i < all.n; i++)
		/* One that cannot be opened holds nothing that can be read. */
		if (!pack_names_have(r->without, all.p[i]))
			odb_add_pack(r, odb, all.p[i]);
	pack_names_free(&all);
	return rc;
}

git_odb *
pack_odb(const struct repo *r, const struct pack_list *list,
    bool (*wanted)(const struct pack *), struct err *e)
{
	git_odb *odb = NULL;

	if (git2_load(e))
		return NULL;
	if (git2.odb_new(&odb)) {
		repo_git_fail(e, &err_internal, "cannot open the packs");
		return NULL;
	}
	for (size_t i = 0; i < list->n; i++)
		if ((!wanted || wanted(&list->p[i])) &&
		    odb_add_pack(r, odb, list->p[i].name)) {
			repo_git_fail(e, &err_corrupt, "cannot open a pack");
			git2.odb_free(odb);
			return NULL;
		}
	return odb;
}

int
pack_read_back(git_odb *odb, const struct oid *oids, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		git_oid id = oid_to_git(oids[i]);
		git_odb_object *object = NULL;
		bool whole = !git2.odb_read(&object, odb, &id) &&
			     object_is_whole(object);

		git2.odb_object_free(object);
		if (!whole)
			return repo_git_fail(
			    e, &err_corrupt, "a packed object is not whole");
	}
	return 0;
}

static int
sync_file(int dir, const char *name, const char *suffix)
{
	char file[PACK_NAME + 8];
	int fd, rc;

	snprintf(file, sizeof(file), "%s%s", name, suffix);
	fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

int
pack_sync_all(struct repo *r, const struct pack_list *list, struct err *e)
{
	int dir =
	    openat(r->objects, "pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = dir < 0 ? -1 : 0;

	for (size_t i = 0; !rc && i < list->n; i++)
		rc = sync_file(dir, list->p[i].name, ".pack") ||
			     sync_file(dir, list->p[i].name, ".idx")
			 ? -1
			 : 0;
	if (!rc)
		rc = fsync(dir);
	if (rc)
		err_errno(e, &err_unavailable, "cannot sync the packs of %s",
		    r->path);
	if (dir >= 0)
		close(dir);
	return rc;
}

static int
write_pack(struct repo *r, const struct oid *oids, size_t n,
    char name[PACK_NAME], struct err *e)
{
	char *dir = pack_path(r, "", "");
	git_packbuilder *pb = NULL;
	int rc = -1;

	if (git2.packbuilder_new(&pb, r->git))
		goto out;
	git2.packbuilder_set_threads(pb, 1);
	for (size_t i = 0; i < n; i++) {
		git_oid id = oid_to_git(oids[i]);

		if (git2.packbuilder_insert(pb, &id, NULL))
			goto out;
	}
	if (git2.packbuilder_write(pb, dir, 0444, NULL, NULL))
		goto out;
	snprintf(name, PACK_NAME, "pack-%s", git2.packbuilder_name(pb));
	rc = 0;
out:
	if (rc)
		repo_git_fail(e, &err_unavailable, "cannot write a pack");
	git2.packbuilder_free(pb);
	free(dir);
	return rc;
}

static void
remove_pack(struct repo *r, const char *name)
{
	static const char *const suffixes[] = { ".idx", ".pack" };

	for (size_t i = 0; i < 2; i++) {
		char *path = pack_path(r, name, suffixes[i]);

		unlink(path);
		free(path);
	}
}

static bool
list_has(const struct pack_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->p[i].name, name))
			return true;
	return false;
}

int
pack_build(struct repo *r, const struct oid *oids, size_t n,
    char name[PACK_NAME], struct err *e)
{
	struct pack one = { 0 };
	struct pack_list list = { &one, 1, 1 }, before = { 0 };
	git_odb *odb = NULL;
	int rc = -1;

	if (repo_git(r, e) || pack_list_read(r, &before, e) ||
	    write_pack(r, oids, n, name, e)) {
		pack_list_free(&before);
		return -1;
	}
	memcpy(one.name, name, PACK_NAME);
	if (pack_sync_all(r, &list, e))
		goto out;
	odb = pack_odb(r, &list, NULL, e);
	if (odb)
		rc = pack_read_back(odb, oids, n, e);
out:
	git2.odb_free(odb);
	/* Its objects are elsewhere as well, so nothing is lost with it, unless
	 * the very same pack was there before. */
	if (rc && !list_has(&before, name))
		remove_pack(r, name);
	pack_list_free(&before);
	return rc;
}
