#include "ledger/audit/prove_keys.h"

#include "ledger/chain/key_event.h"

#define PROOF_MAX (NOTE_MAX + 8192)

int
prove_keys_open(struct prove_keys *k, struct repo *repo, struct oid commit,
    struct arena *a, struct err *e)
{
	struct batch_line line;
	struct opened opened;
	struct event ev;
	struct batch b;

	if (batch_read(repo, commit, a, &b, e))
		return -1;
	if (batch_line_next(&b.events, &line, e) <= 0 ||
	    event_parse(a, line.event, &ev, e) ||
	    opened_decode(ev.data, &opened, e))
		return -1;
	signers_open(&k->signers, ev.ledger, &opened);
	return 0;
}

static int
follow_event(struct prove_keys *k, const struct event *ev, struct err *e)
{
	struct signers *s = &k->signers;
	struct instant any = { 0 };
	struct rotated rotated;
	struct revoked revoked;

	if (str_is(ev->type, TYPE_KEY_ROTATED))
		return rotated_decode(ev->data, s->origin, &rotated, e)
			   ? -1
			   : signers_rotate(s, rotated.key, ev->seq, ev->at, e);
	if (str_is(ev->type, TYPE_KEY_REVOKED))
		return revoked_decode(ev->data, s->origin, &revoked, e)
			   ? -1
			   : signers_revoke(
				 s, &revoked, ev->seq, ev->at, any, e);
	return err_set(e, &err_corrupt,
	    "allowed_signers changes without a key event before event %llu",
	    (unsigned long long)ev->seq + 1);
}

int
prove_keys_follow(struct prove_keys *k, struct repo *repo, struct oid commit,
    struct arena *a, struct err *e)
{
	struct batch_line line = { 0 };
	struct event ev;
	struct batch b;
	int more;

	if (batch_read(repo, commit, a, &b, e))
		return -1;
	while ((more = batch_line_next(&b.events, &line, e)) > 0)
		;
	if (more < 0 || event_parse(a, line.event, &ev, e))
		return -1;
	return follow_event(k, &ev, e);
}

void
prove_keys_begin(struct prove_keys *k, uint64_t size, struct arena *a)
{
	k->n = evidence_keys_from(&k->signers, size, k->keys, k->named_by);
	for (size_t i = 1; i < k->n; i++)
		k->paths[i] = path_new(a, k->named_by[i], size);
}

void
prove_keys_take(struct prove_keys *k, uint64_t seq, struct str line,
    struct digest leaf, struct arena *a)
{
	for (size_t i = 1; i < k->n; i++) {
		if (k->named_by[i] == seq)
			k->keys[i].line = arena_str(a, line);
		path_add(k->paths[i], leaf);
	}
}

void
prove_keys_finish(struct prove_keys *k, struct str checkpoint, struct arena *a)
{
	for (size_t i = 1; i < k->n; i++) {
		struct tlog_proof p = { .index = k->named_by[i],
			.checkpoint = checkpoint };
		struct buf b;

		path_proof(k->paths[i], &p.path);
		buf_init(&b, PROOF_MAX);
		tlog_proof_add(&b, &p);
		k->keys[i].proof = arena_str(a, buf_str(&b));
		buf_fini(&b);
	}
}
