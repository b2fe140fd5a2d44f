#include "ledger/chain/pack_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ledger/chain/event_scan.h"
#include "ledger/chain/key_event.h"
#include "ledger/chain/signers.h"
#include "ledger/chain/verify_batch.h"
#include "ledger/crypto/dsse.h"

#define TREE_MAX ((size_t)4 << 20)

struct checking {
	struct arena *a;
	struct repo *repo;
	struct pack_contents contents;
	struct batch batch;
	struct pack_shown *shown;
	struct err *e;
};

__attribute__((format(printf, 3, 4))) static int
fails(struct checking *c, const char *check, const char *fmt, ...)
{
	char text[sizeof c->e->detail];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	c->shown->check = check;
	return err_set(c->e, &err_corrupt, "%s", text);
}

static int
open_pack(struct checking *c, struct str pack)
{
	const char *check;
	struct err why = { 0 };

	c->shown->check = CHECK_REPOSITORY;
	if (repo_open_pack(pack, PACK_READ_MAX, &c->repo, &c->contents, c->e))
		return -1;
	if (c->contents.commits != 1)
		return fails(c, CHECK_REPOSITORY,
		    "the pack has %zu commits; one batch has one",
		    c->contents.commits);
	c->shown->commit = c->contents.commit;
	if (batch_read_checked(c->repo, c->contents.commit, c->a, NULL,
		&c->batch, &check, &why))
		return fails(c, check, "%s", why.detail);
	return 0;
}

static bool
names_key(const struct checking *c, struct public_key key)
{
	struct str s = c->batch.allowed_signers;
	char line[PUBLIC_KEY_SSH + 1];

	public_key_ssh(key, line);
	return memmem(s.p, s.n, line, PUBLIC_KEY_SSH) != NULL;
}

static bool
names_any(const struct checking *c, const struct pinned *pinned)
{
	for (size_t i = 0; i < pinned->n; i++)
		if (names_key(c, pinned->keys[i]))
			return true;
	return false;
}

/* A batch's signers are only its own word: that both keys are there leads
 * nobody from the one to the other. */
static int
signed_by_another(
    struct checking *c, const struct sshsig *sig, const struct pinned *pinned)
{
	char key[DSSE_KEYID + 1];

	if (!sshsig_verify(sig, STR("git"), c->batch.commit.signed_bytes))
		return fails(c, CHECK_COMMIT, "the commit's signature is bad");
	dsse_keyid(sig->key, key);
	if (!names_any(c, pinned))
		return fails(c, CHECK_COMMIT,
		    "the commit is signed by another key, %s, not by one that "
		    "was given: give that key with another --key",
		    key);
	return fails(c, CHECK_COMMIT,
	    "the commit is signed by another key of the ledger, as the batch "
	    "itself has it, %s: give that key with another --key, once an "
	    "evidence file has shown that the one given leads to it",
	    key);
}

/* The ledger as its first event names it, and the key: the one given, or the
 * one that signed the commit. */
static int
find_scope(struct checking *c, const struct pinned *pinned)
{
	struct str rest = c->batch.events;
	struct batch_line line;
	struct event_scan scan;
	struct sshsig sig;

	if (rest.n == 0)
		return fails(c, CHECK_COMMIT, "the batch has no events");
	if (batch_line_next(&rest, &line, NULL) <= 0 ||
	    event_scan(line.event, &scan, NULL) ||
	    !origin_is_valid(scan.ledger))
		return fails(
		    c, CHECK_EVENT, "the batch's first event is not one");
	c->shown->origin = scan.ledger;
	if (sshsig_parse(c->batch.commit.gpgsig, &sig, NULL))
		return fails(
		    c, CHECK_COMMIT, "the commit's signature is malformed");
	c->shown->key = sig.key;
	if (pinned && !pinned_has(pinned, sig.key))
		return signed_by_another(c, &sig, pinned);
	return 0;
}

/* What the key events give is not in the pack; that the key is among the
 * signers is. */
static int
check_signers(struct checking *c)
{
	if (!names_key(c, c->shown->key))
		return fails(
		    c, CHECK_SIGNERS, "allowed_signers does not name the key");
	return 0;
}

/* Whether the batch's last event changes the keys. One that cannot be read is
 * found when the events are gone through. */
static bool
changes_keys(const struct checking *c)
{
	struct str rest = c->batch.events;
	struct batch_line line;
	struct event_scan scan;
	bool changes = false;

	while (batch_line_next(&rest, &line, NULL) > 0)
		changes = event_scan(line.event, &scan, NULL) == 0 &&
			  signers_change(scan.type);
	return changes;
}

static int
read_next_key(struct checking *c, const struct event *ev,
    struct public_key *next, struct err *e)
{
	struct rotated rotated;
	struct revoked revoked;

	if (str_is(ev->type, TYPE_KEY_ROTATED)) {
		if (rotated_decode(ev->data, c->shown->origin, &rotated, e))
			return -1;
		*next = rotated.key;
		return 0;
	}
	if (revoked_decode(ev->data, c->shown->origin, &revoked, e))
		return -1;
	*next = revoked.key;
	return 0;
}

/* The new key signed that it is this ledger's, and is among the signers from
 * here on. */
static int
check_next_key(struct checking *c)
{
	struct str rest = c->batch.events;
	struct batch_line line = { 0 };
	struct public_key next;
	struct event ev;
	struct err why = { 0 };

	while (batch_line_next(&rest, &line, NULL) > 0)
		;
	if (event_parse(c->a, line.event, &ev, &why) ||
	    read_next_key(c, &ev, &next, &why))
		return fails(c, CHECK_EVENT, "%s", why.detail);
	if (!names_key(c, next))
		return fails(c, CHECK_SIGNERS,
		    "allowed_signers does not name the new key");
	return 0;
}

/* Nothing may ride along: what no check has looked at proves nothing. */
static int
check_number(struct checking *c)
{
	size_t n = 2 + c->batch.n_payloads; /* commit and tree */
	struct tree_entry *entries;
	struct str bytes;
	size_t n_entries;

	if (repo_read(c->repo, c->batch.commit.tree, OBJECT_TREE, TREE_MAX,
		c->a, &bytes, c->e) ||
	    tree_parse(c->a, bytes, &entries, &n_entries, c->e))
		return -1;
	for (size_t i = 0; i < n_entries; i++) {
		bool again = false;

		for (size_t j = 0; j < i; j++)
			again = again || oid_eq(entries[i].oid, entries[j].oid);
		n += !again;
	}
	if (n != c->contents.n)
		return fails(c, CHECK_REPOSITORY,
		    "the pack has %zu objects, its batch %zu", c->contents.n,
		    n);
	return 0;
}

/* The ledger's first batch has all that its root and its key hang on. */
static int
check_first(struct checking *c, const struct batch_result *r)
{
	static const struct digest zero;
	struct merkle tree = { 0 };
	struct str rest = c->batch.events;
	struct batch_line line;
	struct opened opened;
	struct event ev;
	struct err why = { 0 };

	if (batch_line_next(&rest, &line, NULL) <= 0 ||
	    event_parse(c->a, line.event, &ev, &why) ||
	    opened_decode(ev.data, &opened, &why))
		return fails(c, CHECK_EVENT, "%s", why.detail);
	if (!public_key_eq(opened.key, c->shown->key))
		return fails(c, CHECK_SIGNERS,
		    "event 0 names another key than that of the commit");
	if (!digest_eq(r->first_prev, zero))
		return fails(c, CHECK_CHAIN, "prev of event 0 is not 64 zeros");
	for (size_t i = 0; i < r->n; i++)
		merkle_append(&tree, r->leaves[i]);
	if (!digest_eq(merkle_root(&tree), r->root))
		return fails(c, CHECK_CHECKPOINT,
		    "the checkpoint's root is not that of the events");
	c->shown->whole = true;
	return 0;
}

static int
check_batch(struct checking *c, struct batch_result *r)
{
	struct pack_shown *s = c->shown;
	struct verify_scope scope = { .origin = s->origin,
		.key = s->key,
		.key_id = note_key_id(s->origin, s->key),
		.allowed_signers = c->batch.allowed_signers,
		.changes_keys = changes_keys(c) };
	struct verify_bench bench = {
		.repo = c->repo, .batch = arena_new(), .payload = arena_new()
	};
	int rc;

	buf_init(&bench.signers.bytes, SIGNERS_MAX);
	rc = verify_batch(&scope, &bench, c->contents.commit, c->a, r, c->e);
	buf_fini(&bench.signers.bytes);
	arena_free(bench.batch);
	arena_free(bench.payload);
	if (rc)
		return -1;
	if (!r->check)
		return 0;
	s->has_seq = r->any;
	s->seq = r->first_seq + r->index;
	return fails(c, r->check, "%s", r->reason);
}

static int
check(struct checking *c, struct str pack, const struct pinned *pinned)
{
	struct pack_shown *s = c->shown;
	struct batch_result r;

	if (open_pack(c, pack) || find_scope(c, pinned) || check_batch(c, &r) ||
	    check_signers(c) || check_number(c) ||
	    (r.key_changed && check_next_key(c)))
		return -1;
	s->first = r.first_seq;
	s->n = r.n;
	s->payloads = r.payloads;
	s->size = r.first_seq + r.n;
	s->root = r.root;
	s->head = r.head;
	s->checkpoint = r.checkpoint;
	return r.first_seq == 0 ? check_first(c, &r) : 0;
}

int
pack_check(struct arena *a, struct str pack, const struct pinned *pinned,
    struct pack_shown *shown, struct err *e)
{
	struct checking c = { .a = a, .shown = shown };
	struct err why = { 0 };
	int rc;

	*shown = (struct pack_shown){ 0 };
	c.e = &why;
	rc = check(&c, pack, pinned);
	repo_close(c.repo);
	if (rc == 0)
		shown->check = NULL;
	else
		err_set(e, why.kind, "%s", why.detail);
	return rc;
}
