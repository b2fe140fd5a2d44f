/* The commits from the branch's back to the first, or to the one that is
 * trusted. */
#include <stdlib.h>

#include "ledger/chain/event_scan.h"
#include "ledger/chain/verify_run.h"

static void
history_add(struct history *h, struct oid oid)
{
	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 1024;
		h->commits = realloc(h->commits, h->room * sizeof *h->commits);
		if (!h->commits)
			abort();
	}
	h->commits[h->n++] = oid;
}

static void
add_change(struct history *h, size_t place)
{
	if (h->n_changes == h->room_changes) {
		h->room_changes = h->room_changes ? 2 * h->room_changes : 64;
		h->changes = reallocarray(
		    h->changes, h->room_changes, sizeof *h->changes);
		if (!h->changes)
			abort();
	}
	h->changes[h->n_changes++] = place;
}

/* The commit before the one that was listed last has these signers. */
static void
note_signers(struct history *h, struct digest signers)
{
	if (h->has_newer && !digest_eq(h->newer, signers))
		add_change(h, h->n - 1);
	h->newer = signers;
	h->has_newer = true;
}

static void
history_reverse(struct history *h)
{
	for (size_t i = 0; i < h->n_changes; i++)
		h->changes[i] = h->n - 1 - h->changes[i];
	for (size_t i = 0; i < h->n_changes / 2; i++) {
		size_t swap = h->changes[i];

		h->changes[i] = h->changes[h->n_changes - 1 - i];
		h->changes[h->n_changes - 1 - i] = swap;
	}
	for (size_t i = 0; i < h->n / 2; i++) {
		struct oid swap = h->commits[i];

		h->commits[i] = h->commits[h->n - 1 - i];
		h->commits[h->n - 1 - i] = swap;
	}
}

/* The seq before the first event of the oldest commit listed: the last event
 * of the commit that is missing. 0 when it cannot be told. */
static uint64_t
seq_before_oldest(struct verification *v)
{
	struct history *h = &v->history;
	struct batch batch;
	struct batch_line line;
	struct event_scan scan;

	arena_reset(v->scratch);
	if (h->n == 0 ||
	    batch_read(v->repo, h->commits[h->n - 1], v->scratch, &batch, NULL))
		return 0;
	if (batch_line_next(&batch.events, &line, NULL) <= 0 ||
	    event_scan(line.event, &scan, NULL) || scan.seq == 0)
		return 0;
	return scan.seq - 1;
}

/* Whether this is the batch before from_seq. What its trailers say is trusted
 * then, so nothing is lost if they are lies. */
static bool
is_anchor(struct verification *v, const struct trailers *t)
{
	return v->options->from_seq > 0 && t->size <= v->options->from_seq;
}

/* 0 and *more, 1 when the verdict is known, -1. */
static int
list_one(struct verification *v, struct oid *oid, bool *more, struct err *e)
{
	struct history *h = &v->history;
	struct err why = { 0 };
	struct trailers trailers;
	const char *check;
	struct commit c;

	arena_reset(v->scratch);
	if (commit_read_checked(v->repo, *oid, v->scratch, &c, &check, &why)) {
		if (why.kind != &err_corrupt)
			return err_set(e, why.kind, "%s", why.detail);
		return verify_fail(
		    v, check, seq_before_oldest(v), "%.250s", why.detail);
	}
	*more = c.has_parent;
	if (!trailers_parse(c.message, &trailers, NULL)) {
		if (h->n == 0)
			h->total = trailers.size;
		note_signers(h, trailers.signers);
		if (is_anchor(v, &trailers)) {
			h->has_anchor = true;
			h->anchor = *oid;
			*more = false;
			return 0;
		}
	}
	history_add(h, *oid);
	*oid = c.parent;
	return 0;
}

int
verify_list(struct verification *v, struct oid tip, struct err *e)
{
	bool more = true;
	int rc;

	while (more) {
		rc = list_one(v, &tip, &more, e);
		if (rc)
			return rc;
		if (v->history.n % 4096 == 0)
			verify_show_progress(v);
	}
	history_reverse(&v->history);
	return 0;
}
