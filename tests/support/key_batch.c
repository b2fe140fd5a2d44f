#include "tests/support/key_batch.h"

#include <stdio.h>
#include <stdlib.h>

#include "ledger/chain/key_event.h"

static void
must(int rc, const struct err *e, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "key_batch: %s: %s\n", what, e->detail);
	abort();
}

static void
renew_signers(struct small_ledger *l)
{
	buf_reset(&l->signers);
	signers_text(&l->keys, &l->signers);
}

static struct signature
possession_of(struct signer *next)
{
	struct signature s;
	struct err e = { 0 };

	must(possession_sign(next, STR(PURPOSE_LEDGER), &s, &e), &e,
	    "possession");
	return s;
}

struct parts
key_batch_draft_rotation(struct small_ledger *l, struct signer *next)
{
	struct parts p = small_ledger_draft(l, 1);
	struct rotated r = { signer_public(next), possession_of(next) };
	struct err e = { 0 };

	p.events[0].type = STR(TYPE_KEY_ROTATED);
	p.events[0].data = rotated_encode(l->a, &r);
	must(signers_rotate(
		 &l->keys, r.key, p.events[0].seq, p.events[0].at, &e),
	    &e, "rotate");
	renew_signers(l);
	return p;
}

static void
go_on_with(struct small_ledger *l, struct signer *next)
{
	signer_free(l->signer);
	l->signer = next;
}

void
key_batch_rotate(struct small_ledger *l, struct signer *next)
{
	struct parts p = key_batch_draft_rotation(l, next);

	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	go_on_with(l, next);
}

void
key_batch_revoke(struct small_ledger *l, uint64_t last_good, struct digest root,
    struct signer *next)
{
	struct parts p = small_ledger_draft(l, 1);
	struct event *ev = &p.events[0];
	struct revoked r = { .revoked = signers_at(&l->keys, last_good)->key,
		.size = last_good,
		.root = root,
		.key = signer_public(next),
		.possession = possession_of(next) };
	struct err e = { 0 };

	ev->type = STR(TYPE_KEY_REVOKED);
	ev->data = revoked_encode(l->a, &r);
	must(signers_revoke(&l->keys, &r, ev->seq, ev->at, ev->at, &e), &e,
	    "revoke");
	renew_signers(l);
	go_on_with(l, small_ledger_recovery());
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	go_on_with(l, next);
}
