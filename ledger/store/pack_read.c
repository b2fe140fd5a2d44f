#include "ledger/store/pack_read.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/store/pack_entry.h"
#include "ledger/store/repo_git.h"

/* One object, once its deltas are undone. */
struct unpacked {
	size_t at;
	enum object_kind kind;
	struct str bytes;
	struct oid oid;
};

struct unpacking {
	struct arena *a;
	struct repo *repo;
	struct str pack;
	size_t room;
	struct unpacked *done;
	size_t n;
};

static int
corrupt(struct err *e, const char *why)
{
	return err_set(e, &err_corrupt, "not a whole git pack: %s", why);
}

static int
compare_places(const void *at, const void *one)
{
	size_t x = *(const size_t *)at, y = ((const struct unpacked *)one)->at;

	return (x > y) - (x < y);
}

/* A delta's base comes before it, as git writes packs. */
static const struct unpacked *
find_base(const struct unpacking *u, const struct pack_entry *entry)
{
	if (entry->type == ENTRY_OFS_DELTA)
		return bsearch(&entry->base_at, u->done, u->n, sizeof *u->done,
		    compare_places);
	for (size_t i = u->n; i-- > 0;)
		if (oid_eq(u->done[i].oid, entry->base))
			return &u->done[i];
	return NULL;
}

static int
undo_delta(struct unpacking *u, const struct pack_entry *entry,
    struct unpacked *out, struct err *e)
{
	const struct unpacked *base = find_base(u, entry);

	if (!base)
		return corrupt(e, "it needs an object that it does not hold");
	out->kind = base->kind;
	return pack_delta(
	    base->bytes, entry->bytes, &u->room, u->a, &out->bytes, e);
}

static int
store(struct unpacking *u, struct unpacked *one, struct err *e)
{
	git_oid id;

	one->oid = repo_oid_plain(one->kind, one->bytes);
	if (repo_has(u->repo, one->oid))
		return corrupt(e, "an object is there twice");
	/* Looks for collisions, and then finds the same id. */
	if (git2.odb_write(&id, u->repo->odb, one->bytes.p, one->bytes.n,
		(git_object_t)one->kind))
		return repo_git_fail(
		    e, &err_corrupt, "an object of the pack is refused");
	return 0;
}

static int
unpack_one(struct unpacking *u, size_t *at, struct err *e)
{
	struct unpacked *one = &u->done[u->n];
	struct pack_entry entry;

	if (pack_entry_read(u->pack, at, &u->room, u->a, &entry, e))
		return -1;
	one->at = entry.at;
	if (entry.type < ENTRY_OFS_DELTA) {
		one->kind = (enum object_kind)entry.type;
		one->bytes = entry.bytes;
	} else if (undo_delta(u, &entry, one, e)) {
		return -1;
	}
	if (store(u, one, e))
		return -1;
	u->n++;
	return 0;
}

static int
unpack(struct unpacking *u, struct pack_contents *out, struct err *e)
{
	size_t at = 12;
	uint32_t n;

	if (pack_head(u->pack, &n, e))
		return -1;
	if (n > PACK_READ_OBJECTS)
		return err_set(e, &err_too_large,
		    "the pack has more than %d objects", PACK_READ_OBJECTS);
	u->done = arena_array(u->a, n, sizeof *u->done);
	while (u->n < n)
		if (unpack_one(u, &at, e))
			return -1;
	if (at != u->pack.n - OID_BYTES)
		return corrupt(e, "something follows its last entry");
	out->n = n;
	for (size_t i = 0; i < n; i++) {
		if (u->done[i].kind != OBJECT_COMMIT)
			continue;
		out->commits++;
		out->commit = u->done[i].oid;
	}
	return 0;
}

/* Without a folder: objects are kept by libgit2, in memory. */
static int
open_empty(struct repo **out, struct err *e)
{
	struct repo *r = calloc(1, sizeof *r);
	git_odb_backend *b = NULL;

	if (!r || !(r->path = strdup("a pack")))
		abort();
	r->dir = r->objects = -1;
	*out = r;
	if (git2_load(e))
		return -1;
	if (git2.odb_new(&r->odb) || git2.mempack_new(&b))
		return repo_git_fail(e, &err_internal, "cannot open a pack");
	if (git2.odb_add_backend(r->odb, b, 1)) {
		b->free(b);
		return repo_git_fail(e, &err_internal, "cannot open a pack");
	}
	return 0;
}

int
repo_open_pack(struct str pack, size_t max, struct repo **out,
    struct pack_contents *contents, struct err *e)
{
	struct unpacking u = { .pack = pack, .room = max };
	int rc;

	*contents = (struct pack_contents){ 0 };
	u.a = arena_new();
	rc = open_empty(&u.repo, e) || unpack(&u, contents, e) ? -1 : 0;
	arena_free(u.a);
	if (rc) {
		repo_close(u.repo);
		u.repo = NULL;
	}
	*out = u.repo;
	return rc;
}
