#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/store/pack_set.h"

/*
 * Packs are counted in classes, each eight times the size of the one below;
 * eight of a class become one. So every object is packed again a few times in
 * a ledger's life, and seven a class remain at most.
 *
 * A joined pack stays for a while after what replaced it: a `git fsck` or a
 * clone that began before has it open, or is about to. The list of these is
 * only a hint: before one is removed, each of its objects is looked up in the
 * packs that stay.
 */
#define CLASS_BYTES   ((uint64_t)1 << 20)
#define CLASS_FACTOR  8
#define JOIN_AT       8
#define JOIN_OBJECTS  2000000 /* libgit2 needs about 300 bytes for each */
#define GRACE_S       600
#define LIVE_MAX      (PACK_MAX - JOIN_AT)
#define LIST_NAME     "packs-superseded"
#define LIST_MAX      ((size_t)1 << 20)
#define LIST_LINE_MAX 96

struct retired {
	char name[PACK_NAME];
	uint64_t since; /* seconds since 1970 */
};

struct retired_list {
	struct retired *p;
	size_t n;
};

static char *
list_path(const struct repo *r)
{
	char *path;

	if (asprintf(&path, "%s/" LIST_NAME, r->path) < 0)
		abort();
	return path;
}

/* Lines "<seconds> pack-<hex>", the oldest first; others are passed over. */
static int
retired_read(struct repo *r, struct arena *a, struct retired_list *list,
    size_t more, struct err *e)
{
	char *path = list_path(r);
	struct err why = { 0 };
	struct str text = { 0 };
	int rc = io_read_file(a, path, LIST_MAX, &text, &why);

	free(path);
	if (rc && why.kind != &err_not_found)
		return err_set(e, why.kind, "%s", why.detail);
	list->p =
	    arena_array(a, text.n / PACK_NAME + more + 1, sizeof(*list->p));
	while (text.n) {
		struct str line = str_take(&text, '\n');
		struct str since = str_take(&line, ' ');
		struct retired *one = &list->p[list->n];
		struct oid o;

		if (!str_to_u64(since, &one->since) ||
		    line.n != PACK_NAME - 1 ||
		    !str_has_prefix(line, STR("pack-")) ||
		    !oid_from_hex(str_slice(line, 5, line.n), &o))
			continue;
		memcpy(one->name, line.p, line.n);
		one->name[line.n] = '\0';
		list->n++;
	}
	return 0;
}

static int
retired_write(struct repo *r, struct arena *a, const struct retired_list *list,
    struct err *e)
{
	char *text = arena_alloc(a, list->n * LIST_LINE_MAX + 1);
	char *path = list_path(r);
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < list->n; i++)
		n += (size_t)snprintf(text + n, LIST_LINE_MAX, "%llu %s\n",
		    (unsigned long long)list->p[i].since, list->p[i].name);
	rc = io_write_file(path, (struct str){ text, n }, 0644, e);
	free(path);
	return rc;
}

static void
mark_retired(struct pack_list *packs, const struct retired_list *list)
{
	for (size_t i = 0; i < packs->n; i++)
		for (size_t k = 0; k < list->n; k++)
			if (!strcmp(packs->p[i].name, list->p[k].name))
				packs->p[i].superseded = true;
}

static bool
is_live(const struct pack *p)
{
	return !p->superseded;
}

/* Collects ids of a pack. */
static int
collect(const git_oid *id, void *list)
{
	oid_list_add(list, oid_from_git(id));
	return 0;
}

static int
pack_ids(
    struct repo *r, const struct pack *p, struct oid_list *out, struct err *e)
{
	struct pack one = *p;
	struct pack_list list = { &one, 1, 1 };
	git_odb *odb = pack_odb(r, &list, NULL, e);
	int rc;

	if (!odb)
		return -1;
	rc = git2.odb_foreach(odb, collect, out);
	git2.odb_free(odb);
	if (rc)
		return repo_git_fail(e, &err_corrupt, "cannot list a pack");
	return 0;
}

static unsigned
class_of(const struct pack *p)
{
	unsigned k = 0;

	for (uint64_t most = CLASS_BYTES; p->bytes >= most && k < 20; k++)
		most *= CLASS_FACTOR;
	return k;
}

static bool
is_kept(const struct repo *r, const struct pack *p)
{
	char file[PACK_NAME + 16];

	snprintf(file, sizeof(file), "pack/%s.keep", p->name);
	return !faccessat(r->objects, file, F_OK, 0);
}

/*
 * Picks what to join next into run: the smallest packs of the lowest class
 * that is full, or, when there are too many all the same, the smallest ones.
 */
static size_t
pick(const struct repo *r, const struct pack_list *packs,
    const struct pack **run)
{
	uint64_t objects = 0;
	size_t live = 0, n = 0;
	unsigned class = 0;

	for (size_t i = 0; i < packs->n; i++) {
		const struct pack *p = &packs->p[i];

		if (p->superseded || is_kept(r, p))
			continue;
		live++;
		if (n && class_of(p) != class)
			n = 0;
		if (!n)
			objects = 0;
		class = class_of(p);
		objects += p->objects;
		run[n++] = p;
		if (n == JOIN_AT && objects <= JOIN_OBJECTS)
			return n;
		if (n == JOIN_AT) {
			objects -= run[0]->objects;
			memmove(run, run + 1, --n * sizeof(*run));
		}
	}
	if (live <= LIVE_MAX)
		return 0;
	n = 0;
	for (size_t i = 0; i < packs->n && n < JOIN_AT; i++)
		if (!packs->p[i].superseded && !is_kept(r, &packs->p[i]))
			run[n++] = &packs->p[i];
	return n;
}

/* An object that two packs hold is packed once. */
static void
drop_twins(struct oid_list *list)
{
	size_t n = 0;

	oid_list_sort(list);
	for (size_t i = 0; i < list->n; i++)
		if (!n || !oid_eq(list->p[n - 1], list->p[i]))
			list->p[n++] = list->p[i];
	list->n = n;
}

/* The run is replaced by the pack called `by`, which may be one of it. */
static void
retired_add(struct retired_list *list, const struct pack *const *run, size_t n,
    const char *by)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->p[i].name, by))
			list->p[kept++] = list->p[i];
	list->n = kept;
	for (size_t i = 0; i < n; i++) {
		struct retired *one = &list->p[list->n];

		if (!strcmp(run[i]->name, by))
			continue;
		memcpy(one->name, run[i]->name, PACK_NAME);
		one->since = (uint64_t)time(NULL);
		list->n++;
	}
}

/* Joins one run and writes down what it replaces. *done when there is none. */
static int
join_once(struct repo *r, bool *done, struct err *e)
{
	const struct pack *run[JOIN_AT];
	struct arena *a = arena_new();
	struct pack_list packs = { 0 };
	struct retired_list retired = { 0 };
	struct oid_list ids = { 0 };
	char name[PACK_NAME];
	size_t n;
	int rc = -1;

	if (pack_list_read(r, &packs, e) ||
	    retired_read(r, a, &retired, JOIN_AT, e))
		goto out;
	mark_retired(&packs, &retired);
	n = pick(r, &packs, run);
	*done = n < 2;
	if (*done) {
		rc = 0;
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		if (pack_ids(r, run[i], &ids, e))
			goto out;
	drop_twins(&ids);
	if (repo_odb_renew(r, true, e) || pack_build(r, ids.p, ids.n, name, e))
		goto out;
	retired_add(&retired, run, n, name);
	rc = retired_write(r, a, &retired, e);
out:
	oid_list_free(&ids);
	pack_list_free(&packs);
	arena_free(a);
	return rc;
}

/* Whether the packs that stay hold everything of this one. */
static int
replaced(struct repo *r, git_odb *live, const struct pack *p, bool *out,
    struct err *e)
{
	struct oid_list ids = { 0 };

	*out = false;
	if (pack_ids(r, p, &ids, e)) {
		oid_list_free(&ids);
		return -1;
	}
	*out = true;
	for (size_t i = 0; *out && i < ids.n; i++) {
		git_oid id = oid_to_git(ids.p[i]);

		*out =
		    git2.odb_exists_ext(live, &id, GIT_ODB_LOOKUP_NO_REFRESH);
	}
	oid_list_free(&ids);
	return 0;
}

/*
 * The index first: a pack without an index is passed over by every reader,
 * while an index without its pack promises objects that cannot be read.
 */
static int
remove_files(struct repo *r, const char *name, struct err *e)
{
	static const char *const suffixes[] = { ".idx", ".rev", ".pack" };

	/* It names packs, and stock git would miss them. */
	unlinkat(r->objects, "pack/multi-pack-index", 0);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char file[PACK_NAME + 16];

		snprintf(file, sizeof(file), "pack/%s%s", name, suffixes[i]);
		if (unlinkat(r->objects, file, 0) && errno != ENOENT)
			return err_errno(
			    e, &err_unavailable, "cannot remove %s", file);
	}
	return 0;
}

/* Removes one retired pack; *gone also when it had gone before. */
static int
retire(struct repo *r, git_odb *live, const struct pack_list *packs,
    const struct retired *one, bool *gone, struct err *e)
{
	const struct pack *p = NULL;

	for (size_t i = 0; i < packs->n; i++)
		if (!strcmp(packs->p[i].name, one->name))
			p = &packs->p[i];
	*gone = true;
	if (p && replaced(r, live, p, gone, e))
		return -1;
	/* Not replaced after all: it is a pack like any other again. */
	if (!*gone) {
		*gone = true;
		return 0;
	}
	return remove_files(r, one->name, e);
}

static int
retire_old(struct repo *r, struct err *e)
{
	uint64_t now = (uint64_t)time(NULL);
	struct arena *a = arena_new();
	struct pack_list packs = { 0 };
	struct retired_list list = { 0 };
	git_odb *live = NULL;
	size_t kept = 0, had, total;
	int rc = -1;

	if (pack_list_read(r, &packs, e) || retired_read(r, a, &list, 0, e))
		goto out;
	if (!list.n) {
		rc = 0;
		goto out;
	}
	mark_retired(&packs, &list);
	live = pack_odb(r, &packs, is_live, e);
	if (!live)
		goto out;
	had = list.n;
	total = packs.n;
	for (size_t i = 0; i < had; i++) {
		struct retired one = list.p[i];
		bool gone = false;

		/* Readers lose their grace rather than all the packs grow. */
		if ((total > PACK_MAX || one.since + GRACE_S < now) &&
		    retire(r, live, &packs, &one, &gone, e))
			goto out;
		if (gone)
			total--;
		else
			list.p[kept++] = one;
	}
	list.n = kept;
	rc = kept == had ? 0 : retired_write(r, a, &list, e);
out:
	git2.odb_free(live);
	pack_list_free(&packs);
	arena_free(a);
	return rc;
}

int
pack_join(struct repo *r, struct err *e)
{
	bool done = false;

	if (repo_git(r, e))
		return -1;
	while (!done)
		if (join_once(r, &done, e))
			return -1;
	return retire_old(r, e);
}
