#include <string.h>

#include "ledger/chain/batch_check.h"
#include "ledger/chain/signers.h"

#define COMMIT_MAX (64u << 10)
/* The events, and beside each signatures of kinds yet to come. */
#define EVENTS_MAX (BATCH_BYTES + BATCH_EVENTS * (33u << 10))
#define TREE_MAX   (64u << 10)
/* An entry has 92 bytes: mode, name, object id. */
#define PAYLOADS_MAX (BATCH_EVENTS * EVENT_PAYLOADS * 92u)
#define EXTRA_MAX    (16u << 20)
#define PAD_BYTES    32

struct reader {
	struct repo *repo;
	struct arena *a;
	struct signers_cache *cache;
	const char **check;
	struct err *e;
};

static int
read_object(struct reader *r, struct oid oid, enum object_kind kind, size_t max,
    const char *what, struct str *out)
{
	struct err why = { 0 };
	char hex[OID_HEX + 1];

	if (!repo_read(r->repo, oid, kind, max, r->a, out, &why))
		return 0;
	*r->check = CHECK_REPOSITORY;
	oid_hex(oid, hex);
	if (why.kind == &err_not_found || why.kind == &err_too_large)
		why.kind = &err_corrupt;
	return err_set(
	    r->e, why.kind, "%s %s cannot be read: %s", what, hex, why.detail);
}

static int
bad_entry(struct reader *r, const char *fmt, struct str name)
{
	char shown[80];
	size_t n = 0;

	/* The name is a stranger's. */
	for (; n < name.n && n < sizeof shown - 1; n++)
		shown[n] =
		    name.p[n] > ' ' && name.p[n] <= '~' ? name.p[n] : '?';
	shown[n] = '\0';
	return err_set(r->e, &err_corrupt, "entry %s %s", shown, fmt);
}

static int
read_signers(struct reader *r, struct oid oid, struct str *out)
{
	struct signers_cache *c = r->cache;

	if (c && c->set && oid_eq(c->oid, oid)) {
		*out = buf_str(&c->bytes);
		return 0;
	}
	if (read_object(
		r, oid, OBJECT_BLOB, SIGNERS_MAX, "allowed_signers", out))
		return -1;
	if (c && *out->p) {
		buf_reset(&c->bytes);
		buf_add(&c->bytes, *out);
		c->oid = oid;
		c->set = !buf_failed(&c->bytes);
	}
	return 0;
}

static int
read_payloads(struct reader *r, struct oid oid, struct batch *b)
{
	struct tree_entry *entries;
	struct str bytes;
	size_t n;

	if (read_object(
		r, oid, OBJECT_TREE, PAYLOADS_MAX, "payloads", &bytes) ||
	    tree_parse(r->a, bytes, &entries, &n, r->e))
		return -1;
	b->payloads = arena_array(r->a, n, sizeof *b->payloads);
	b->n_payloads = n;
	for (size_t i = 0; i < n; i++) {
		b->payloads[i].oid = entries[i].oid;
		if (entries[i].is_tree ||
		    !digest_from_hex(entries[i].name, &b->payloads[i].sha256))
			return bad_entry(
			    r, "of payloads is malformed", entries[i].name);
		if (i > 0 && str_cmp(entries[i - 1].name, entries[i].name) >= 0)
			return bad_entry(r,
			    "of payloads is there twice or out of order",
			    entries[i].name);
	}
	if (n == 0)
		return err_set(r->e, &err_corrupt, "payloads is empty");
	return 0;
}

static int
read_extra(struct reader *r, const struct tree_entry *t, struct batch *b)
{
	struct str bytes;

	if (!str_has_prefix(t->name, STR("x-")) || t->is_tree)
		return bad_entry(r, "is not known", t->name);
	if (read_object(
		r, t->oid, OBJECT_BLOB, EXTRA_MAX, "an x- entry", &bytes))
		return -1;
	if (!trailers_list_extra(b->commit.message, t->name, sha256(bytes)))
		return bad_entry(
		    r, "is not listed by a trailer Ledger-X", t->name);
	if (str_is(t->name, TRACES_ENTRY))
		b->traces = bytes;
	return 0;
}

static int
read_entry(struct reader *r, const struct tree_entry *t, struct batch *b)
{
	if (str_is(t->name, "payloads") && t->is_tree)
		return read_payloads(r, t->oid, b);
	if (t->is_tree)
		return bad_entry(r, "is not known", t->name);
	if (str_is(t->name, "events"))
		return read_object(
		    r, t->oid, OBJECT_BLOB, EVENTS_MAX, "events", &b->events);
	if (str_is(t->name, "checkpoint"))
		return read_object(r, t->oid, OBJECT_BLOB, NOTE_MAX,
		    "checkpoint", &b->checkpoint);
	if (str_is(t->name, "allowed_signers"))
		return read_signers(r, t->oid, &b->allowed_signers);
	return read_extra(r, t, b);
}

static int
check_listed(struct reader *r, const struct tree_entry *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (str_eq(t[i].name, t[j].name))
				return bad_entry(
				    r, "is there twice", t[i].name);
	return 0;
}

static int
read_tree(struct reader *r, struct batch *b)
{
	struct tree_entry *entries;
	struct str bytes;
	size_t n;

	if (read_object(
		r, b->commit.tree, OBJECT_TREE, TREE_MAX, "tree", &bytes))
		return -1;
	if (tree_parse(r->a, bytes, &entries, &n, r->e) ||
	    check_listed(r, entries, n))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (read_entry(r, &entries[i], b))
			return -1;
	if (!b->events.p || !b->checkpoint.p || !b->allowed_signers.p)
		return err_set(r->e, &err_corrupt, "entry %s is missing",
		    !b->events.p       ? "events"
		    : !b->checkpoint.p ? "checkpoint"
				       : "allowed_signers");
	return 0;
}

int
commit_read_checked(struct repo *repo, struct oid oid, struct arena *a,
    struct commit *c, const char **check, struct err *e)
{
	struct reader r = { repo, a, NULL, check, e };
	struct str bytes;

	*check = CHECK_COMMIT;
	if (read_object(&r, oid, OBJECT_COMMIT, COMMIT_MAX, "commit", &bytes) ||
	    commit_parse(a, bytes, c, e))
		return -1;
	c->oid = oid;
	return 0;
}

int
commit_read(struct repo *repo, struct oid oid, struct arena *a,
    struct commit *c, struct err *e)
{
	const char *check;

	return commit_read_checked(repo, oid, a, c, &check, e);
}

int
batch_read_checked(struct repo *repo, struct oid oid, struct arena *a,
    struct signers_cache *cache, struct batch *b, const char **check,
    struct err *e)
{
	struct reader r = { repo, a, cache, check, e };

	*b = (struct batch){ 0 };
	if (commit_read_checked(repo, oid, a, &b->commit, check, e) ||
	    trailers_parse(b->commit.message, &b->trailers, e))
		return -1;
	return read_tree(&r, b);
}

int
batch_read(struct repo *repo, struct oid oid, struct arena *a, struct batch *b,
    struct err *e)
{
	const char *check;

	return batch_read_checked(repo, oid, a, NULL, b, &check, e);
}

int
payload_read_checked(struct repo *repo, struct oid oid, struct digest expect,
    size_t max, struct arena *a, struct str *out, const char **check,
    struct err *e)
{
	*check = CHECK_REPOSITORY;
	if (repo_read(repo, oid, OBJECT_BLOB, max + PAD_BYTES, a, out, e))
		return -1;
	*check = CHECK_PAYLOAD;
	if (out->n < PAD_BYTES)
		return err_set(e, &err_corrupt, "the stored blob is cut off");
	*out = str_slice(*out, PAD_BYTES, out->n);
	if (!digest_eq(sha256(*out), expect))
		return err_set(e, &err_corrupt, "the content has another hash");
	return 0;
}

int
payload_read(struct repo *repo, struct oid oid, struct digest expect,
    size_t max, struct arena *a, struct str *out, struct err *e)
{
	const char *check;

	return payload_read_checked(repo, oid, expect, max, a, out, &check, e);
}
