/*
 * Damages looked at again, by the names they were told under.
 */
#include <string.h>

#include "ledger/write/examine.h"

static int
pack_remains(struct storage *s, struct str name, struct err *e)
{
	struct pack_inspection seen;
	char text[INSPECT_PACK_NAME];

	if (name.n != sizeof text - 1)
		return err_set(e, &err_invalid, "no such pack");
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	if (inspect_pack(s->repo, text, NULL, &seen, e))
		return -1;
	return !seen.absent && seen.damaged;
}

static int
object_remains(
    struct storage *s, enum object_kind kind, struct str name, struct err *e)
{
	struct arena *a = arena_new();
	struct inspection seen = { 0 };
	struct oid oid;
	int rc;

	if (!oid_from_hex(name, &oid))
		rc = err_set(e, &err_invalid, "no object's id");
	else
		rc = inspect_object(
		    s->repo, oid, kind, (size_t)2 << 30, NULL, a, &seen, e);
	if (rc == 0)
		rc = !seen.readable || seen.loose_damaged;
	arena_free(a);
	return rc;
}

static int
batch_remains(struct storage *s, struct str name, struct err *e)
{
	char why[RECHECK_WHY];
	struct recheck *r;
	struct oid oid;
	int good;

	if (!oid_from_hex(name, &oid))
		return err_set(e, &err_invalid, "no object's id");
	r = recheck_new(s->repo, storage_origin(s), &s->keys);
	good = recheck_batch(r, oid, why, e);
	recheck_free(r);
	return good < 0 ? -1 : !good;
}

static int
branch_remains(struct storage *s, struct err *e)
{
	struct damage d;
	struct oid tip;
	int good = storage_branch(s, &tip, &d, e);

	return good < 0 ? -1 : !good;
}

static enum object_kind
object_kind_of(struct str kind)
{
	if (str_is(kind, "commit"))
		return OBJECT_COMMIT;
	if (str_is(kind, "tree") || str_is(kind, "payloads"))
		return OBJECT_TREE;
	return OBJECT_BLOB;
}

static int
one_remains(struct storage *s, const struct damage_name *d, struct err *e)
{
	if (str_is(d->kind, "pack"))
		return pack_remains(s, d->name, e);
	if (str_is(d->kind, "branch"))
		return branch_remains(s, e);
	if (str_is(d->kind, "batch"))
		return batch_remains(s, d->name, e);
	return object_remains(s, object_kind_of(d->kind), d->name, e);
}

int
ledger_damage_remains(const struct ledger_options *o,
    const struct damage_name *list, size_t n, bool *remains, struct err *e)
{
	struct storage s;
	int rc = 0;

	if (storage_open(o, &s, e))
		return -1;
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		rc = one_remains(&s, &list[i], e);
		remains[i] = rc != 0;
	}
	storage_close(&s);
	return rc < 0 ? -1 : 0;
}
