#include "ledger/chain/evidence_keys.h"

#include <inttypes.h>

#include "ledger/chain/key_event.h"

/* The event by which entry i is in force, or signs. */
struct naming {
	const struct evidence *ev;
	struct evidence_shown *shown;
	size_t i;
	struct batch_line line;
	struct event event;
};

static int
not_named(struct err *e, const struct naming *n, const char *why)
{
	return err_set(e, &err_corrupt,
	    "key number %zu of the file is not shown to be the ledger's: %s",
	    n->i + 1, why);
}

/* It is an event of the ledger, in the tree of the file's checkpoint. */
static int
check_place(struct arena *a, struct naming *n, struct err *e)
{
	const struct evidence_key *k = &n->ev->keys[n->i];
	const struct checkpoint *c = &n->shown->checkpoint;
	struct tlog_proof proof;

	if (batch_line_parse(a, k->line, &n->line, NULL) ||
	    event_parse(a, n->line.event, &n->event, NULL) ||
	    tlog_proof_parse(a, k->proof, &proof, NULL))
		return not_named(e, n, "its event or proof cannot be read");
	if (!str_eq(n->event.ledger, n->ev->origin) ||
	    n->event.seq != proof.index)
		return not_named(e, n, "the event is not that of the proof");
	if (!str_eq(proof.checkpoint, n->shown->proof.checkpoint))
		return not_named(
		    e, n, "its proof is against another checkpoint");
	if (!proof_includes(merkle_leaf(n->line.event), proof.index, c->size,
		&proof.path, c->root))
		return not_named(e, n, "the event is not in the tree");
	return 0;
}

static bool
is_signed(const struct naming *n, struct public_key key)
{
	struct signature s;

	return batch_line_signature(
		   &n->line, note_key_id(n->ev->origin, key), &s) &&
	       ed25519_verify(key, n->line.event, s);
}

/* The key before signed its last event, and that names this one. */
static int
check_rotation(struct naming *n, struct err *e)
{
	const struct evidence_key *k = &n->ev->keys[n->i];
	struct rotated r;

	if (rotated_decode(n->event.data, n->ev->origin, &r, e))
		return -1;
	if (!is_signed(n, n->ev->keys[n->i - 1].key))
		return not_named(
		    e, n, "the event is not signed by the key before");
	if (!public_key_eq(r.key, k->key) || k->from_seq != n->event.seq + 1)
		return not_named(e, n, "the event names another key");
	return 0;
}

/* For one of a revocation's two entries, so that it is noted once, and there is
 * room for all. */
static void
note_void(struct naming *n, const struct revoked *r)
{
	struct evidence_shown *s = n->shown;

	if (r->size < n->event.seq && s->n_voids < EVIDENCE_KEYS / 2)
		s->voids[s->n_voids++] =
		    (struct evidence_void){ r->size, n->event.seq - 1 };
}

/* Two entries: the recovery key, for the one event, and the new key. */
static int
check_revocation(struct naming *n, struct err *e)
{
	const struct evidence_key *k = &n->ev->keys[n->i];
	bool recovery = k->from_seq == n->event.seq;
	const struct evidence_key *signs = recovery ? k : k - 1;
	struct revoked r;

	if (revoked_decode(n->event.data, n->ev->origin, &r, e))
		return -1;
	if (!signs->ended || signs->from_seq != n->event.seq ||
	    signs->until_seq != n->event.seq || !is_signed(n, signs->key))
		return not_named(
		    e, n, "the event is not signed by the recovery key");
	if (!recovery &&
	    (!public_key_eq(r.key, k->key) || k->from_seq != n->event.seq + 1))
		return not_named(e, n, "the event names another key");
	if (n->shown->event.seq >= r.size && n->shown->event.seq < n->event.seq)
		return err_set(e, &err_corrupt,
		    "the event is void: event %" PRIu64
		    " revokes the key from event %" PRIu64 " on",
		    n->event.seq, r.size);
	if (recovery)
		note_void(n, &r);
	return 0;
}

static int
check_key(struct arena *a, struct naming *n, struct err *e)
{
	if (check_place(a, n, e))
		return -1;
	if (str_is(n->event.type, TYPE_KEY_ROTATED))
		return check_rotation(n, e);
	if (str_is(n->event.type, TYPE_KEY_REVOKED))
		return check_revocation(n, e);
	return not_named(e, n, "the event names no key");
}

int
evidence_check_keys(struct arena *a, const struct evidence *ev,
    struct evidence_shown *shown, struct err *e)
{
	for (size_t i = 1; i < ev->n_keys; i++) {
		struct naming n = { .ev = ev, .shown = shown, .i = i };

		if (check_key(a, &n, e))
			return -1;
	}
	return 0;
}
