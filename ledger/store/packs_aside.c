#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/private.h"
#include "ledger/store/inspect.h"
#include "ledger/store/repo_git.h"

#define ASIDE    "damaged"
#define FILE_MAX (INSPECT_PACK_NAME + 8)

void
pack_names_add(struct pack_names *list, const char *name)
{
	if (list->n == list->room) {
		list->room = list->room ? 2 * list->room : 16;
		list->p = reallocarray(list->p, list->room, sizeof(*list->p));
		if (!list->p)
			abort();
	}
	snprintf(list->p[list->n++], sizeof(*list->p), "%s", name);
}

bool
pack_names_have(const struct pack_names *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->p[i], name))
			return true;
	return false;
}

void
pack_names_free(struct pack_names *list)
{
	free(list->p);
	*list = (struct pack_names){ 0 };
}

/* "pack-<40 hex>.idx", and the pack is there too. */
static bool
is_pair(int dir, const char *file, char name[INSPECT_PACK_NAME])
{
	size_t n = INSPECT_PACK_NAME - 1;
	char other[FILE_MAX];
	struct oid unused;

	if (strlen(file) != n + 4 || strncmp(file, "pack-", 5) ||
	    strcmp(file + n, ".idx") ||
	    !oid_from_hex((struct str){ file + 5, OID_HEX }, &unused))
		return false;
	memcpy(name, file, n);
	name[n] = '\0';
	snprintf(other, sizeof(other), "%s.pack", name);
	return !faccessat(dir, other, F_OK, 0);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int
open_packs(const struct repo *r, struct err *e)
{
	int fd = openat(r->objects, "pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		err_errno(e, &err_unavailable, "cannot open %s/objects/pack",
		    r->path);
	return fd;
}

int
inspect_list_packs(const struct repo *r, struct pack_names *list, struct err *e)
{
	int fd = open_packs(r, e);
	const struct dirent *entry;
	char name[INSPECT_PACK_NAME];
	DIR *dir;

	if (fd < 0)
		return -1;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return err_errno(e, &err_unavailable,
		    "cannot list %s/objects/pack", r->path);
	}
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((entry = readdir(dir)))
		if (is_pair(dirfd(dir), entry->d_name, name))
			pack_names_add(list, name);
	closedir(dir);
	if (list->n)
		qsort(list->p, list->n, sizeof(*list->p), compare_names);
	return 0;
}

int
inspect_pass_over(struct repo *r, const struct pack_names *names, struct err *e)
{
	r->without = names;
	return repo_odb_renew(r, true, e);
}

int
packs_lock(struct repo *r, int *lock, struct err *e)
{
	*lock = open_packs(r, e);
	if (*lock < 0)
		return -1;
	if (flock(*lock, LOCK_EX) == 0)
		return 0;
	close(*lock);
	return err_errno(
	    e, &err_unavailable, "cannot lock the packs of %s", r->path);
}

void
packs_unlock(int lock)
{
	close(lock);
}

/* The index comes last into a folder of packs and goes first from it: without
 * it git does not see the pack. */
static int
move_pack(int from, int to, const char *name, bool back)
{
	static const char *const away[] = { ".idx", ".pack" };
	char file[FILE_MAX];

	for (size_t i = 0; i < 2; i++) {
		snprintf(
		    file, sizeof(file), "%s%s", name, away[back ? 1 - i : i]);
		if (renameat(from, file, to, file) && errno != ENOENT)
			return -1;
	}
	return 0;
}

static int
move_packs(
    struct repo *r, const struct pack_names *names, bool back, struct err *e)
{
	int packs = open_packs(r, e), aside = -1, rc = -1;

	if (packs < 0)
		return -1;
	if (!private_mkdir(r->dir, ASIDE, 0700) || errno == EEXIST)
		aside =
		    openat(r->dir, ASIDE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (aside >= 0) {
		rc = fsync(r->dir);
		for (size_t i = 0; !rc && i < names->n; i++)
			rc = back ? move_pack(aside, packs, names->p[i], true)
				  : move_pack(packs, aside, names->p[i], false);
		if (!rc)
			rc = fsync(back ? packs : aside) ||
			     fsync(back ? aside : packs);
	}
	if (rc)
		err_errno(e, &err_unavailable, "cannot move packs to %s/" ASIDE,
		    r->path);
	if (aside >= 0)
		close(aside);
	close(packs);
	return rc ? -1 : 0;
}

int
packs_put_aside(struct repo *r, const struct pack_names *names, struct err *e)
{
	return move_packs(r, names, false, e);
}

int
packs_put_back(struct repo *r, const struct pack_names *names, struct err *e)
{
	return move_packs(r, names, true, e);
}
