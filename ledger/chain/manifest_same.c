/*
 * Whether two texts are the same JSON: the same bytes in canonical form. Of
 * each a table is made, a hash for every member of the Statement and of its
 * predicate, so that their order does not count; the long arrays go into their
 * hash element by element, so that memory does not grow with them.
 */
#include "ledger/chain/manifest_run.h"
#include "ledger/codec/canon.h"

#define MEMBERS_MAX 64
/* With white space an element is longer than in the Statement. */
#define VALUE_MAX (8u << 20)

struct member {
	bool of_predicate;
	struct str name;
	struct digest digest;
};

struct table {
	struct arena *names, *a; /* a: reset for each value */
	struct json_walk *walk;
	struct member members[MEMBERS_MAX];
	size_t n;
};

static const struct member *
find(const struct table *t, bool of_predicate, struct str name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->members[i].of_predicate == of_predicate &&
		    str_eq(t->members[i].name, name))
			return &t->members[i];
	return NULL;
}

/* The value that comes next, in canonical form. */
static int
take_value(struct table *t, struct str *out, struct err *e)
{
	struct json *v;

	arena_reset(t->a);
	return json_walk_value(t->walk, t->a, VALUE_MAX, &v, e)
		   ? -1
		   : canon_str(t->a, v, out, e);
}

static int
hash_elements(struct table *t, struct sha256_stream *hash, struct err *e)
{
	struct str none, text;
	int more;

	if (json_walk_open(t->walk, JSON_ARRAY, e))
		return -1;
	while ((more = json_walk_next(t->walk, &none, e)) > 0) {
		if (take_value(t, &text, e))
			return -1;
		sha256_stream_add(hash, text);
		sha256_stream_add(hash, STR(","));
	}
	return more;
}

static int
hash_array(struct table *t, struct digest *out, struct err *e)
{
	struct sha256_stream *hash = sha256_stream_new();
	int rc = hash_elements(t, hash, e);

	*out = sha256_stream_end(hash);
	return rc;
}

static int
hash_value(struct table *t, struct digest *out, struct err *e)
{
	struct str text;

	if (take_value(t, &text, e))
		return -1;
	*out = sha256(text);
	return 0;
}

static bool
is_long(struct str name)
{
	return str_is(name, "events") || str_is(name, "evidence") ||
	       str_is(name, "materials");
}

static int add_members(struct table *, bool of_predicate, struct err *);

static int
add_member(struct table *t, bool of_predicate, struct str name, struct err *e)
{
	struct member *m = &t->members[t->n];

	if (t->n == MEMBERS_MAX || find(t, of_predicate, name))
		return err_set(e, &err_malformed,
		    "the member manifest has a member twice, or more than can "
		    "be compared");
	*m = (struct member){ of_predicate, arena_str(t->names, name),
		{ { 0 } } };
	t->n++;
	if (of_predicate && is_long(name))
		return hash_array(t, &m->digest, e);
	if (!of_predicate && str_is(name, "predicate"))
		return add_members(t, true, e);
	return hash_value(t, &m->digest, e);
}

static int
add_members(struct table *t, bool of_predicate, struct err *e)
{
	struct str name;
	int more;

	if (json_walk_open(t->walk, JSON_OBJECT, e))
		return -1;
	while ((more = json_walk_next(t->walk, &name, e)) > 0)
		if (add_member(t, of_predicate, name, e))
			return -1;
	return more;
}

static int
make_table(struct manifest_run *run, struct manifest_part part, struct table *t,
    struct err *e)
{
	int rc;

	*t = (struct table){ .names = run->a, .a = arena_new() };
	t->walk = json_walk_new(manifest_part_read, &part, part.at, false);
	rc = add_members(t, false, e) ? -1 : json_walk_end(t->walk, e);
	json_walk_free(t->walk);
	arena_free(t->a);
	return rc;
}

int
manifest_same_json(struct manifest_run *run, struct manifest_part one,
    struct manifest_part other, bool *same, struct err *e)
{
	struct table *x = ARENA_NEW(run->a, struct table);
	struct table *y = ARENA_NEW(run->a, struct table);

	if (make_table(run, one, x, e) || make_table(run, other, y, e))
		return -1;
	*same = x->n == y->n;
	for (size_t i = 0; *same && i < x->n; i++) {
		const struct member *m = &x->members[i];
		const struct member *n = find(y, m->of_predicate, m->name);

		*same = n && digest_eq(m->digest, n->digest);
	}
	return 0;
}
