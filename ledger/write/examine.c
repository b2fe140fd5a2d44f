#include "ledger/write/examine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define COMMIT_MAX  ((size_t)64 << 10)
#define TREE_MAX    ((size_t)16 << 20)
#define BLOB_MAX    (((size_t)1 << 30) + 64)
#define DEPTH       4
#define SECOND_LOOK 20000000L /* ns */

static bool
is_whole(const struct inspection *seen)
{
	return seen->readable && !seen->loose_damaged;
}

/* An object that packing moves lies for a moment where nobody looked. */
static int
inspect_twice(struct examination *x, struct oid oid, enum object_kind kind,
    size_t max, struct inspection *seen, struct err *e)
{
	struct timespec t = { 0, SECOND_LOOK };

	if (inspect_object(x->repo, oid, kind, max, x->meter, x->a, seen, e))
		return -1;
	if (is_whole(seen) || x->nobody_packs)
		return 0;
	nanosleep(&t, NULL);
	return inspect_object(x->repo, oid, kind, max, x->meter, x->a, seen, e);
}

static void
describe(const struct examination *x, const char *label, struct wanting *w)
{
	const struct inspection *seen = &w->seen;
	const struct batch_ref *b = x->batch;
	struct damage *d = &w->damage;

	d->kind = label;
	oid_hex(w->oid, d->name);
	d->has_seq = b->count > 0;
	d->first_seq = b->first;
	d->last_seq = b->first + b->count - (b->count > 0);
	snprintf(d->what, sizeof d->what, "%s",
	    seen->readable ? "its own file is damaged; a pack still has it"
	    : seen->there  ? "it is damaged"
			   : "it is missing");
}

/* 1 with the bytes, 0 when they are not to be had, -1. */
static int
look(struct examination *x, struct oid oid, enum object_kind kind, size_t max,
    const char *label, struct str *bytes, struct err *e)
{
	struct wanting w = {
		.oid = oid, .commit = x->batch->commit, .kind = kind, .max = max
	};
	int rc;

	if (inspect_twice(x, oid, kind, max, &w.seen, e))
		return -1;
	x->objects++;
	*bytes = w.seen.bytes;
	if (is_whole(&w.seen))
		return 1;
	x->faulty = true;
	describe(x, label, &w);
	rc = x->wanting(x->arg, &w, x->a, bytes, e);
	return rc == 0 && w.seen.readable ? 1 : rc;
}

/* Whole objects that together say something wrong. */
static int
bad_batch(struct examination *x, const char *why, struct err *e)
{
	struct wanting w = { .oid = x->batch->commit,
		.commit = x->batch->commit };
	struct str unused;

	describe(x, "batch", &w);
	snprintf(w.damage.what, sizeof w.damage.what, "%s", why);
	return x->wanting(x->arg, &w, x->a, &unused, e) < 0 ? -1 : 0;
}

static const char *
label_of(const struct tree_entry *t, bool payload)
{
	static const char *const known[] = { "events", "checkpoint",
		"allowed_signers" };

	if (t->is_tree)
		return str_is(t->name, "payloads") ? "payloads" : "tree";
	if (payload)
		return "payload";
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (str_is(t->name, known[i]))
			return known[i];
	return "entry";
}

static int
look_at_blob(struct examination *x, const struct tree_entry *t,
    const char *label, struct err *e)
{
	bool signers = strcmp(label, "allowed_signers") == 0;
	struct str bytes;
	int rc;

	if (signers && x->has_signers && oid_eq(x->signers, t->oid)) {
		x->faulty = x->faulty || !x->signers_whole;
		return 0;
	}
	rc = look(x, t->oid, OBJECT_BLOB, BLOB_MAX, label, &bytes, e);
	if (signers) {
		x->signers = t->oid;
		x->has_signers = true;
		x->signers_whole = rc == 1;
	}
	return rc < 0 ? -1 : 0;
}

static int
look_at_tree(struct examination *x, struct oid oid, const char *label,
    int depth, struct err *e)
{
	struct tree_entry *entries;
	struct err why = { 0 };
	struct str bytes;
	size_t n;
	int rc = look(x, oid, OBJECT_TREE, TREE_MAX, label, &bytes, e);

	if (rc <= 0)
		return rc;
	if (depth == DEPTH)
		return bad_batch(x, "its trees are too deep", e);
	if (tree_parse(x->a, bytes, &entries, &n, &why))
		return bad_batch(x, why.detail, e);
	for (size_t i = 0; i < n; i++) {
		bool payload = strcmp(label, "payloads") == 0;
		const char *own = label_of(&entries[i], payload);

		if (entries[i].is_tree
			? look_at_tree(x, entries[i].oid, own, depth + 1, e)
			: look_at_blob(x, &entries[i], own, e))
			return -1;
	}
	return 0;
}

static int
recheck(struct examination *x, struct err *e)
{
	char why[RECHECK_WHY];
	int rc = recheck_batch(x->recheck, x->batch->commit, why, e);

	return rc == 0 ? bad_batch(x, why, e) : rc < 0 ? -1 : 0;
}

static int
look_at_batch(struct examination *x, struct err *e)
{
	struct err why = { 0 };
	struct str bytes;
	struct commit c;
	int rc = look(x, x->batch->commit, OBJECT_COMMIT, COMMIT_MAX, "commit",
	    &bytes, e);

	if (rc <= 0)
		return rc;
	if (commit_parse(x->a, bytes, &c, &why))
		return bad_batch(x, why.detail, e);
	if (look_at_tree(x, c.tree, "tree", 0, e))
		return -1;
	return x->recheck && !x->faulty ? recheck(x, e) : 0;
}

int
examine_batch(struct examination *x, const struct batch_ref *b, struct err *e)
{
	int rc;

	x->a = arena_new();
	x->batch = b;
	x->faulty = false;
	rc = look_at_batch(x, e);
	arena_free(x->a);
	x->a = NULL;
	return rc;
}
