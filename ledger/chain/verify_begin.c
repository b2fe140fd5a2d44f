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
scope_from_opened(struct verification *v, const struct event *ev, struct err *e)
{
	struct opened opened;
	struct err why = { 0 };
	char key[PUBLIC_KEY_SSH + 1];

	(void)e;
	if (!str_is(ev->type, TYPE_OPENED) || !origin_is_valid(ev->ledger))
		return verify_fail(
		    v, CHECK_EVENT, 0, "event 0 does not open a ledger");
	if (opened_decode(ev->data, &opened, &why))
		return verify_fail(v, CHECK_EVENT, 0, "%.250s", why.detail);
	public_key_ssh(opened.key, key);
	if (!v->options->own_key && !public_key_eq(opened.key, v->options->key))
		return verify_fail(v, CHECK_SIGNERS, 0,
		    "event 0 names %s, which is not the key given", key);
	v->report->continues = opened.continues;
	v->index = index_list_new();
	v->scope.origin = ev->ledger;
	v->scope.key = opened.key;
	signers_first(&v->signers, ev->ledger, opened.key);
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
	return scope_from_opened(v, &ev, e);
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
	v->scope.origin = scan.ledger;
	v->scope.key = v->options->key;
	v->at = scan.at;
	v->closed = r->closed = str_is(scan.type, TYPE_CLOSED);
	buf_add(&v->signers, batch.allowed_signers);
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

int
verify_begin(struct verification *v, struct err *e)
{
	int rc = v->history.has_anchor ? begin_at_anchor(v, e)
				       : begin_at_event_0(v, e);

	if (rc)
		return rc;
	v->scope.key_id = note_key_id(v->scope.origin, v->scope.key);
	v->scope.allowed_signers = buf_str(&v->signers);
	v->scope.quick = v->options->quick;
	snprintf(v->report->origin, sizeof v->report->origin, "%.*s",
	    STR_ARGS(v->scope.origin));
	if (!v->options->has_kept)
		return 0;
	if (!str_eq(v->options->kept.origin, v->scope.origin))
		return verify_fail(v, CHECK_CONSISTENCY, 0,
		    "the kept checkpoint is of another ledger");
	if (v->history.has_anchor && v->options->kept.size == v->report->size)
		return verify_kept_root(v, v->report->root);
	return 0;
}
