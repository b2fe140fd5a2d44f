/* What is known before the first batch is checked: origin, key, signers. */
#include <stdio.h>

#include "ledger/chain/event_scan.h"
#include "ledger/chain/signers.h"
#include "ledger/chain/verify_run.h"

static int
read_first(struct verification *v, struct oid oid, struct batch *batch,
    struct batch_line *line, uint64_t seq, struct err *e)
{
	struct err why = { 0 };
	const char *check;

	if (batch_read_checked(v->repo, oid, v->a, NULL, batch, &check, &why)) {
		if (why.kind != &err_corrupt)
			return err_set(e, why.kind, "%s", why.detail);
		return verify_fail(v, check, seq, "%.250s", why.detail);
	}
	if (batch_line_next(&batch->events, line, &why) <= 0)
		return verify_fail(
		    v, CHECK_EVENT, seq, "the batch has no event");
	return 0;
}

static int
keys_from_opened(struct verification *v, const struct event *ev)
{
	struct opened opened;
	struct err why = { 0 };

	if (!str_is(ev->type, TYPE_OPENED) || !origin_is_valid(ev->ledger))
		return verify_fail(
		    v, CHECK_EVENT, 0, "event 0 does not open a ledger");
	if (opened_decode(ev->data, &opened, &why))
		return verify_fail(v, CHECK_EVENT, 0, "%.250s", why.detail);
	v->report->continues = opened.continues;
	v->index = index_list_new();
	v->pinned = v->options->own_key;
	v->origin = ev->ledger;
	signers_open(&v->keys, ev->ledger, &opened);
	return 0;
}

bool
verify_choose_key(struct verification *v)
{
	const struct pinned *more = &v->options->more;

	v->key = v->options->key;
	if (signers_find(&v->keys, v->key))
		return true;
	for (size_t i = 0; i < more->n; i++)
		if (signers_find(&v->keys, more->keys[i])) {
			v->key = more->keys[i];
			return true;
		}
	return false;
}

/* Of what the anchor says the key in force is taken over. With a pinned key
 * that it does not list, that one has to be behind the batches that follow. */
static int
keys_from_anchor(struct verification *v, const struct event_scan *last,
    struct str allowed_signers)
{
	struct err why = { 0 };
	struct signers_key *k;

	if (signers_parse(&v->keys, v->origin, allowed_signers, &why))
		return verify_fail(v, CHECK_SIGNERS, v->options->from_seq - 1,
		    "%.250s", why.detail);
	k = &v->keys.keys[v->keys.n - 1];
	if (signers_change(last->type))
		k->from_seq = last->seq + 1;
	v->pinned = verify_choose_key(v);
	return 0;
}

static int
begin_at_event_0(struct verification *v, struct err *e)
{
	struct batch batch;
	struct batch_line line;
	struct event ev;
	struct err why = { 0 };
	int rc;

	rc = read_first(v, v->history.commits[0], &batch, &line, 0, e);
	if (rc)
		return rc;
	if (event_parse(v->a, line.event, &ev, &why))
		return verify_fail(v, CHECK_EVENT, 0, "%.250s", why.detail);
	return keys_from_opened(v, &ev);
}

/* Takes over from the anchor what its batch says. */
static int
begin_at_anchor(struct verification *v, struct err *e)
{
	struct verify_report *r = v->report;
	struct event_scan scan;
	struct batch batch;
	struct batch_line line;
	int rc;

	rc = read_first(
	    v, v->history.anchor, &batch, &line, v->options->from_seq - 1, e);
	if (rc)
		return rc;
	while (batch_line_next(&batch.events, &line, NULL) > 0)
		;
	if (event_scan(line.event, &scan, NULL) ||
	    !origin_is_valid(scan.ledger))
		return verify_fail(v, CHECK_EVENT, v->options->from_seq - 1,
		    "the last event before cannot be read");
	v->origin = scan.ledger;
	rc = keys_from_anchor(v, &scan, batch.allowed_signers);
	if (rc)
		return rc;
	v->at = scan.at;
	v->closed = r->closed = str_is(scan.type, TYPE_CLOSED);
	r->size = batch.trailers.size;
	r->head = sha256(line.event);
	r->root = batch.trailers.root;
	r->commit = v->history.anchor;
	snprintf(r->checkpoint, sizeof r->checkpoint, "%.*s",
	    STR_ARGS(batch.checkpoint));
	return 0;
}

int
verify_kept_root(struct verification *v, struct digest root)
{
	v->compared = true;
	if (digest_eq(root, v->options->kept.root))
		return 0;
	return verify_fail(v, CHECK_CONSISTENCY, 0,
	    "the history was rewritten: the first %llu events have another "
	    "root than the kept checkpoint",
	    (unsigned long long)v->options->kept.size);
}

/* The pinned key is one that the ledger names. */
static int
check_named(struct verification *v)
{
	char first[PUBLIC_KEY_SSH + 1];

	if (v->pinned || v->history.has_anchor ||
	    signers_find(&v->keys, v->key))
		return 0;
	public_key_ssh(v->keys.keys[0].key, first);
	return verify_fail(v, CHECK_SIGNERS, 0,
	    "event 0 names %s, which is not the key given%s", first,
	    v->keys.n > 1 ? ", and no later event names that" : "");
}

/* Every key that may have signed what was kept: those given, and the ledger's.
 */
static struct pinned
known_keys(const struct verification *v)
{
	const struct pinned *more = &v->options->more;
	struct public_key *keys =
	    arena_array(v->a, 1 + more->n + v->keys.n, sizeof *keys);
	size_t n = 0;

	keys[n++] = v->options->key;
	for (size_t i = 0; i < more->n; i++)
		keys[n++] = more->keys[i];
	for (size_t i = 0; i < v->keys.n; i++)
		keys[n++] = v->keys.keys[i].key;
	return (struct pinned){ keys, n };
}

/* Whether it may be of this ledger, from a time that is not here. */
static bool
is_beyond(const struct verification *v)
{
	return str_eq(v->options->kept.origin, v->origin) &&
	       v->options->kept.size > v->history.total;
}

/* Who kept it may have kept it under another key than the pinned one. One that
 * is not known here is no excuse for a history that is too short. */
static int
check_kept_note(struct verification *v, struct err *e)
{
	const struct note *note = v->options->kept_note;
	const struct pinned known = known_keys(v);
	struct public_key any;
	struct err why = { 0 };

	if (!note || pinned_of_note(&known, note, v->options->kept.origin, &any,
			 &why) == 0)
		return 0;
	v->kept_unknown = why.kind == &err_not_found && is_beyond(v) &&
			  pinned_note_key_id(note, v->origin, &v->kept_key_id);
	if (v->kept_unknown)
		return 0;
	return err_set(e, &err_malformed,
	    "the kept checkpoint is not signed by this key, nor by another one "
	    "of this ledger: %.200s",
	    why.detail);
}

int
verify_begin(struct verification *v, struct err *e)
{
	int rc = v->history.has_anchor ? begin_at_anchor(v, e)
				       : begin_at_event_0(v, e);

	if (rc || (rc = verify_plan_keys(v, e)) || (rc = check_named(v)) ||
	    (rc = check_kept_note(v, e)))
		return rc;
	snprintf(v->report->origin, sizeof v->report->origin, "%.*s",
	    STR_ARGS(v->origin));
	if (!v->options->has_kept)
		return 0;
	if (!str_eq(v->options->kept.origin, v->origin))
		return verify_fail(v, CHECK_CONSISTENCY, 0,
		    "the kept checkpoint is of another ledger");
	if (v->history.has_anchor && v->options->kept.size == v->report->size)
		return verify_kept_root(v, v->report->root);
	return 0;
}
