/*
 * Which key signs which batch, found before the batches are checked: so they
 * can be checked side by side. Nothing is believed here. A change of keys that
 * cannot be followed is left to the batch that makes it, which then does not
 * hold; no batch after it is looked at.
 */
#include <stdio.h>

#include "ledger/chain/key_event.h"
#include "ledger/chain/verify_run.h"

/* Each change gives two scopes, and the first key one. */
#define SCOPES (2 * SIGNERS_KEYS + 2)

static struct str
render(struct verification *v)
{
	struct str text;
	struct buf b;

	buf_init(&b, SIGNERS_MAX);
	signers_text(&v->keys, &b);
	text = arena_str(v->a, buf_str(&b));
	buf_fini(&b);
	return text;
}

static struct verify_scope *
add_scope(struct verification *v, size_t first, const struct signers_key *k)
{
	struct verify_scope *s = &v->scopes[v->n_scopes++];

	*s = (struct verify_scope){ .first = first,
		.origin = v->origin,
		.key = k->key,
		.key_id = note_key_id(v->origin, k->key),
		.allowed_signers = render(v),
		.after = k->after,
		.quick = v->options->quick };
	return s;
}

/* The batch's last event, which lives in v->a. */
static int
read_last_event(
    struct verification *v, size_t batch, struct event *ev, struct err *e)
{
	struct batch_line line = { 0 };
	struct batch b;

	arena_reset(v->scratch);
	if (batch_read(v->repo, v->history.commits[batch], v->scratch, &b, e))
		return -1;
	while (batch_line_next(&b.events, &line, NULL) > 0)
		;
	return event_parse(v->a, arena_str(v->a, line.event), ev, e);
}

/* The recovery key of event 0, which with an anchor has not been read. */
static int
find_recovery(struct verification *v, struct err *e)
{
	struct commit c = { .has_parent = true, .parent = v->history.anchor };
	struct batch_line line;
	struct opened opened;
	struct event ev;
	struct batch b;

	if (!v->history.has_anchor)
		return 0;
	while (c.has_parent) {
		struct oid oid = c.parent;

		arena_reset(v->scratch);
		if (commit_read(v->repo, oid, v->scratch, &c, e))
			return -1;
	}
	if (batch_read(v->repo, c.oid, v->a, &b, e) ||
	    batch_line_next(&b.events, &line, e) <= 0 ||
	    event_parse(v->a, line.event, &ev, e) ||
	    opened_decode(ev.data, &opened, e))
		return err_set(
		    e, &err_corrupt, "event 0 cannot be read: no recovery key");
	v->keys.recovery = opened.recovery;
	return 0;
}

/* The time of the commit after which there were `size` events; its root is the
 * one that the revocation names. */
static int
find_last_good(struct verification *v, size_t batch, const struct revoked *r,
    struct instant *at, struct err *e)
{
	const struct history *h = &v->history;
	struct trailers t = { 0 };
	struct commit c = { 0 };
	size_t i = batch;

	while (t.size != r->size) {
		struct oid oid;

		if (i == 0 && (!h->has_anchor || t.size == v->report->size))
			return err_set(e,
			    h->has_anchor ? &err_usage : &err_corrupt,
			    "the last good size that a revocation names is %s",
			    h->has_anchor
				? "before --from: verify from the beginning"
				: "not one at which a batch ends");
		oid = i == 0 ? h->anchor : h->commits[i - 1];
		i -= i > 0;
		arena_reset(v->scratch);
		if (commit_read(v->repo, oid, v->scratch, &c, e) ||
		    trailers_parse(c.message, &t, e))
			return -1;
	}
	if (!digest_eq(t.root, r->root))
		return err_set(e, &err_corrupt,
		    "the root that a revocation names is not that of its size");
	at->us = c.time * 1000000;
	return 0;
}

static int
follow_revocation(
    struct verification *v, size_t batch, const struct event *ev, struct err *e)
{
	struct instant last_good;
	struct revoked r;

	if (revoked_decode(ev->data, v->origin, &r, e) || find_recovery(v, e) ||
	    find_last_good(v, batch, &r, &last_good, e))
		return -1;
	return signers_revoke(&v->keys, &r, ev->seq, ev->at, last_good, e);
}

static int
follow_rotation(struct verification *v, const struct event *ev, struct err *e)
{
	struct rotated r;

	if (rotated_decode(ev->data, v->origin, &r, e))
		return -1;
	return signers_rotate(&v->keys, r.key, ev->seq, ev->at, e);
}

static int
follow_change(struct verification *v, size_t batch, struct err *e)
{
	struct signers_key signs = *signers_in_force(&v->keys);
	struct event ev;

	if (read_last_event(v, batch, &ev, e))
		return -1;
	if (str_is(ev.type, TYPE_KEY_ROTATED)) {
		if (follow_rotation(v, &ev, e))
			return -1;
	} else if (str_is(ev.type, TYPE_KEY_REVOKED)) {
		if (follow_revocation(v, batch, &ev, e))
			return -1;
		signs = v->keys.keys[v->keys.n - 2];
	} else {
		return err_set(e, &err_corrupt,
		    "allowed_signers is not what the key events give");
	}
	add_scope(v, batch, &signs)->changes_keys = true;
	add_scope(v, batch + 1, signers_in_force(&v->keys));
	return 0;
}

/* With an anchor that does not know the pinned key: it is then the only one
 * that is believed. */
static void
prefer_pinned(struct verification *v)
{
	if (v->history.has_anchor && !v->pinned)
		v->scopes[0].key = v->key;
}

static bool
is_fault(const struct err *why)
{
	return why->kind == &err_corrupt || why->kind == &err_conflict ||
	       why->kind == &err_malformed;
}

int
verify_plan_keys(struct verification *v, struct err *e)
{
	const struct history *h = &v->history;
	struct err why = { 0 };

	v->scopes = arena_array(v->a, SCOPES, sizeof *v->scopes);
	add_scope(v, 0, signers_in_force(&v->keys));
	for (size_t i = 0; i < h->n_changes; i++) {
		if (follow_change(v, h->changes[i], &why) == 0)
			continue;
		if (!is_fault(&why))
			return err_set(e, why.kind, "%s", why.detail);
		add_scope(v, h->changes[i], signers_in_force(&v->keys))
		    ->key_fault = arena_printf(v->a, "%.240s", why.detail);
		break;
	}
	if (!verify_choose_key(v))
		prefer_pinned(v);
	return 0;
}
