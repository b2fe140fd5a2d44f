#include "ledger/store/pack_set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/log.h"

#define FORGOTTEN_S (24 * 3600)
#define IDX_FANOUT  8
#define IDX_HEAD    (IDX_FANOUT + 256 * 4)

void
oid_list_add(struct oid_list *list, struct oid o)
{
	if (list->n == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->p = reallocarray(list->p, list->room, sizeof(*list->p));
		if (!list->p)
			abort();
	}
	list->p[list->n++] = o;
}

static int
oid_cmp(const void *a, const void *b)
{
	return memcmp(a, b, OID_BYTES);
}

void
oid_list_sort(struct oid_list *list)
{
	if (list->n)
		qsort(list->p, list->n, sizeof(*list->p), oid_cmp);
}

bool
oid_list_find(const struct oid_list *list, struct oid o, size_t *at)
{
	const struct oid *found =
	    list->n ? bsearch(&o, list->p, list->n, sizeof(*list->p), oid_cmp)
		    : NULL;

	if (found)
		*at = (size_t)(found - list->p);
	return found != NULL;
}

void
oid_list_free(struct oid_list *list)
{
	free(list->p);
	*list = (struct oid_list){ 0 };
}

/* A directory below objects/, or NULL with errno set. */
static DIR *
objects_dir(const struct repo *r, const char *name)
{
	int fd = openat(r->objects, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

static void
remove_forgotten(DIR *dir, const char *name)
{
	struct stat st;

	if (!fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISREG(st.st_mode) && time(NULL) - st.st_mtime > FORGOTTEN_S)
		unlinkat(dirfd(dir), name, 0);
}

static void
fan_out_list(
    DIR *dir, const char *fan, size_t stop, struct oid_list *list, size_t *n)
{
	const struct dirent *entry;

	while (*n < stop && (entry = readdir(dir))) {
		char hex[OID_HEX + 1];
		struct oid o;

		if (!strncmp(entry->d_name, "tmp_obj_", 8))
			remove_forgotten(dir, entry->d_name);
		if (strlen(entry->d_name) != OID_HEX - 2)
			continue;
		snprintf(hex, sizeof(hex), "%.2s%.38s", fan, entry->d_name);
		if (!oid_from_hex(str_from(hex), &o))
			continue;
		++*n;
		if (list)
			oid_list_add(list, o);
	}
}

int
loose_list(struct repo *r, size_t stop, struct oid_list *list, size_t *n,
    struct err *e)
{
	*n = 0;
	for (unsigned i = 0; i < 256 && *n < stop; i++) {
		char fan[3];
		DIR *dir;

		snprintf(fan, sizeof(fan), "%02x", i);
		dir = objects_dir(r, fan);
		if (!dir && errno == ENOENT)
			continue;
		if (!dir)
			return err_errno(e, &err_unavailable,
			    "cannot list %s/objects/%s", r->path, fan);
		fan_out_list(dir, fan, stop, list, n);
		closedir(dir);
	}
	if (list)
		oid_list_sort(list);
	return 0;
}

/* Fills in size and number of objects; false when there is no whole pair. */
static bool
pack_examine(int dir, struct pack *p)
{
	unsigned char head[IDX_HEAD];
	char file[PACK_NAME + 8];
	struct stat st;
	int fd;
	bool good;

	snprintf(file, sizeof(file), "%s.pack", p->name);
	if (fstatat(dir, file, &st, 0))
		return false;
	snprintf(file, sizeof(file), "%s.idx", p->name);
	fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	good = !io_pread_all(fd, head, sizeof(head), 0) &&
	       !memcmp(head, "\377tOc\0\0\0\2", IDX_FANOUT);
	close(fd);
	p->bytes = (uint64_t)st.st_size;
	for (int i = 0; i < 4; i++)
		p->objects = p->objects << 8 | head[IDX_HEAD - 4 + i];
	return good;
}

static int
pack_cmp(const void *left, const void *right)
{
	const struct pack *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* "pack-<40 hex>.idx" */
static bool
pack_name(const char *file, char out[PACK_NAME])
{
	struct oid o;
	size_t n = PACK_NAME - 1;

	if (strlen(file) != n + 4 || strncmp(file, "pack-", 5) ||
	    strcmp(file + n, ".idx") ||
	    !oid_from_hex((struct str){ file + 5, OID_HEX }, &o))
		return false;
	memcpy(out, file, n);
	out[n] = '\0';
	return true;
}

int
pack_list_read(struct repo *r, struct pack_list *list, struct err *e)
{
	DIR *dir = objects_dir(r, "pack");
	const struct dirent *entry;

	if (!dir)
		return err_errno(e, &err_unavailable,
		    "cannot list %s/objects/pack", r->path);
	while ((entry = readdir(dir))) {
		struct pack p = { 0 };

		if (!strncmp(entry->d_name, "pack_git2_", 10))
			remove_forgotten(dir, entry->d_name);
		if (!pack_name(entry->d_name, p.name) ||
		    !pack_examine(dirfd(dir), &p))
			continue;
		if (list->n == list->room) {
			list->room = list->room ? 2 * list->room : 64;
			list->p =
			    reallocarray(list->p, list->room, sizeof(*list->p));
			if (!list->p)
				abort();
		}
		list->p[list->n++] = p;
	}
	closedir(dir);
	if (list->n)
		qsort(list->p, list->n, sizeof(*list->p), pack_cmp);
	return 0;
}

void
pack_list_free(struct pack_list *list)
{
	free(list->p);
	*list = (struct pack_list){ 0 };
}
