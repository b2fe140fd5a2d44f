#include "ledger/write/key_change.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/chain/key_event.h"
#include "ledger/write/index_rows.h"
#include "ledger/write/writer.h"

/* One change, with the turn. */
struct changing {
	struct ledger *l;
	const struct actor *actor;
	const char *new_key;
	struct arena *a;
	const struct signer *signs; /* the batch */
	struct signer *next;
	struct signature possession;
	struct signers after;
	struct batch_sealed sealed;
};

/* The file of a new key that an attempt before this one left. */
static int
keep_next(struct changing *c, const char *path, struct err *e)
{
	struct private_key *key;
	int rc;

	if (c->new_key && unlink(path) && access(path, F_OK) == 0)
		return err_errno(e, &err_unavailable, "cannot remove %s", path);
	if (access(path, F_OK) == 0)
		return 0;
	if (c->new_key)
		return private_key_copy(c->new_key, path, e);
	key = private_key_new();
	rc = private_key_save(key, path, e);
	private_key_free(key);
	return rc;
}

static int
prepare_next(struct changing *c, struct err *e)
{
	char *path = keys_path(c->l, "signing-next.key");
	struct private_key *key = NULL;
	int rc = -1;

	if (keep_next(c, path, e) == 0 &&
	    private_key_load(path, &key, e) == 0) {
		c->next = signer_new(key, c->l->origin);
		rc = possession_sign(
		    c->next, STR(PURPOSE_LEDGER), &c->possession, e);
	}
	free(path);
	return rc;
}

/* A key that cannot be used is not kept for the next attempt. */
static void
drop_next(struct changing *c)
{
	char *path = keys_path(c->l, "signing-next.key");

	unlink(path);
	free(path);
}

static struct uid
new_uid(struct instant at)
{
	uint8_t random[10];

	random_bytes(random, sizeof random);
	return uid_from(at, random);
}

static struct instant
now_for(const struct ledger *l)
{
	struct instant now = l->clock->wall(l->clock);

	if (now.us < l->position.last_at.us)
		now = l->position.last_at;
	return now.us < keys_floor(l).us ? keys_floor(l) : now;
}

static struct event
event_now(const struct changing *c, const char *type)
{
	const struct ledger *l = c->l;
	struct instant at = now_for(l);

	return (struct event){
		.ledger = l->origin,
		.seq = l->position.size,
		.uid = new_uid(at),
		.at = at,
		.type = str_from(type),
		.subject_kind = STR("ledger"),
		.subject = new_uid(at),
		.actor = *c->actor,
		.prev = l->position.head,
	};
}

/* The index after the batch. The rows themselves are written when the batch is
 * caught up with. */
static int
find_index(struct changing *c, const struct event *ev,
    const struct digest **root, struct err *e)
{
	struct db *db = c->l->db;
	struct digest *sum = ARENA_NEW(c->a, struct digest);
	struct index_event record = index_event_of(ev);
	bool announced = false;
	int rc;

	if (db_begin_write(db, e))
		return -1;
	rc = index_is_announced(db, &announced, e);
	if (rc == 0 && announced)
		rc = index_rows_add(db, &record, 1, c->a, sum, e);
	db_rollback(db);
	*root = announced ? sum : NULL;
	return rc;
}

/* The batch of this one event, signed, with the signers as they are after it.
 */
static int
seal(struct changing *c, struct event *ev, struct err *e)
{
	struct signature signature;
	struct batch_draft d = {
		.signer = c->signs,
		.has_parent = true,
		.parent = c->l->position.commit,
		.events = ev,
		.signatures = &signature,
		.n = 1,
		.tree = c->l->position.tree,
	};
	struct buf b;
	int rc = -1;

	buf_init(&b, SIGNERS_MAX);
	signers_text(&c->after, &b);
	d.allowed_signers = arena_str(c->a, buf_str(&b));
	buf_fini(&b);
	if (event_seal(c->a, ev, e) == 0 &&
	    signer_sign(c->signs, SIGNS_EVENT, ev->bytes, &signature, e) == 0) {
		merkle_append(&d.tree, merkle_leaf(ev->bytes));
		if (find_index(c, ev, &d.index, e) == 0)
			rc = batch_seal(c->a, &d, &c->sealed, e);
	}
	return rc;
}

/* Once it is durable it is published as it would be after a crash. */
static int
record(struct changing *c, struct err *e)
{
	int rc = attempt_alone(c->l, &c->sealed.record, e);

	return rc ? -1 : ledger_ready(c->l, e);
}

/* What stands against writing stands against this too. */
static int
check_draft(const struct ledger *l, struct err *e)
{
	const struct draft *d = &l->draft;
	const struct err *why = d->no_more.kind    ? &d->no_more
				: d->no_mark.kind  ? &d->no_mark
				: d->no_space.kind ? &d->no_space
						   : &d->no_clock;

	if (l->position.size == 0)
		return err_set(e, &err_not_found, "the ledger is empty");
	if (why->kind)
		return err_set(e, why->kind, "%s", why->detail);
	return 0;
}

/* A key that no file can lose is not given up for one in a file unless that is
 * said. */
static int
check_new_key(const struct changing *c, struct err *e)
{
	if (c->new_key || !signer_on_token(c->l->signer))
		return 0;
	return err_set(e, &err_invalid,
	    "the ledger's key is on a token, and none is made there by itself:"
	    " make one there and give --new-key FILE with its PKCS #11 URI, or"
	    " FILE with a key in PEM that the ledger is to have from now on");
}

/* Where the key file says so; that is gone afterwards. */
static bool
file_names_token(const struct ledger *l)
{
	char *path = keys_path(l, "signing.key");
	bool yes = private_key_file_names_token(AT_FDCWD, path);

	free(path);
	return yes;
}

static int
rotate_key(struct changing *c, struct key_change *out, struct err *e)
{
	struct rotated data;
	struct event ev;

	if (ledger_ready(c->l, e) || check_draft(c->l, e) ||
	    check_new_key(c, e) || prepare_next(c, e))
		return -1;
	ev = event_now(c, TYPE_KEY_ROTATED);
	c->after = c->l->keys;
	c->signs = c->l->signer;
	data = (struct rotated){ signer_public(c->next), c->possession };
	ev.data = rotated_encode(c->a, &data);
	if (signers_rotate(&c->after, data.key, ev.seq, ev.at, e)) {
		drop_next(c);
		return -1;
	}
	*out = (struct key_change){ .old = signer_public(c->signs),
		.key = data.key,
		.old_on_token = signer_on_token(c->signs),
		.seq = ev.seq,
		.void_from = ev.seq };
	return seal(c, &ev, e) || record(c, e) ? -1 : 0;
}

static int
finish(struct changing *c, int rc, struct key_change *out)
{
	if (rc == 0)
		out->checkpoint = c->sealed.checkpoint;
	signer_free(c->next);
	ledger_release_turn(c->l);
	ledger_close(c->l);
	return rc;
}

static int
begin(struct changing *c, const struct ledger_options *o, struct err *e)
{
	if (ledger_open_unsettled(o, false, &c->l, e))
		return -1;
	if (ledger_take_turn(c->l, e) == 0)
		return 0;
	ledger_close(c->l);
	return -1;
}

int
ledger_rotate_key(const struct ledger_options *o, const struct actor *actor,
    const char *new_key, struct arena *a, struct key_change *out, struct err *e)
{
	struct changing c = { .actor = actor, .new_key = new_key, .a = a };

	*out = (struct key_change){ 0 };
	if (begin(&c, o, e))
		return -1;
	return finish(&c, rotate_key(&c, out, e), out);
}

static int
load_recovery(
    struct changing *c, const char *file, struct signer **out, struct err *e)
{
	char *path = file ? strdup(file) : keys_path(c->l, "recovery.key");
	struct private_key *key = NULL;
	int rc = path ? private_key_load(path, &key, e) : -1;

	free(path);
	if (rc)
		return -1;
	*out = signer_new(key, c->l->origin);
	if (public_key_eq(signer_public(*out), c->l->keys.recovery))
		return 0;
	return err_set(e, &err_invalid,
	    "this is not the recovery key that the ledger's event 0 names");
}

/* The last good batch: its root and its commit's time. */
static int
find_last_good(struct changing *c, uint64_t size, struct digest *root,
    struct instant *at, struct err *e)
{
	struct commit commit = { .has_parent = true,
		.parent = c->l->position.commit };
	struct trailers t = { .size = UINT64_MAX };

	while (t.size > size && commit.has_parent)
		if (commit_read(c->l->repo, commit.parent, c->a, &commit, e) ||
		    trailers_parse(commit.message, &t, e))
			return -1;
	if (size == 0 || t.size != size)
		return err_set(e, &err_invalid,
		    "no batch ended at %llu events; the sizes of checkpoints "
		    "are sizes at which one did",
		    (unsigned long long)size);
	*root = t.root;
	at->us = commit.time * 1000000;
	return 0;
}

static int
revoke_key(struct changing *c, uint64_t size, const char *recovery,
    struct signer **signs, struct key_change *out, struct err *e)
{
	const struct signers_key *old;
	struct instant last_good;
	struct revoked data;
	struct event ev;

	if (ledger_settle(c->l, e) || check_draft(c->l, e) ||
	    load_recovery(c, recovery, signs, e) ||
	    find_last_good(c, size, &data.root, &last_good, e) ||
	    prepare_next(c, e))
		return -1;
	ev = event_now(c, TYPE_KEY_REVOKED);
	old = signers_at(&c->l->keys, size);
	c->after = c->l->keys;
	c->signs = *signs;
	data.revoked = old ? old->key : (struct public_key){ 0 };
	data.size = size;
	data.key = signer_public(c->next);
	data.possession = c->possession;
	ev.data = revoked_encode(c->a, &data);
	if (signers_revoke(&c->after, &data, ev.seq, ev.at, last_good, e)) {
		drop_next(c);
		return -1;
	}
	*out = (struct key_change){ .old = data.revoked,
		.key = data.key,
		.old_on_token = file_names_token(c->l),
		.seq = ev.seq,
		.void_from = size };
	return seal(c, &ev, e) || record(c, e) ? -1 : 0;
}

int
ledger_revoke_key(const struct ledger_options *o, const struct actor *actor,
    uint64_t last_good, const char *recovery_key, const char *new_key,
    struct arena *a, struct key_change *out, struct err *e)
{
	struct changing c = { .actor = actor, .new_key = new_key, .a = a };
	struct signer *signs = NULL;
	int rc;

	*out = (struct key_change){ 0 };
	if (begin(&c, o, e))
		return -1;
	rc = revoke_key(&c, last_good, recovery_key, &signs, out, e);
	signer_free(signs);
	return finish(&c, rc, out);
}
