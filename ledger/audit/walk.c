#include <inttypes.h>

#include "ledger/audit/audit.h"

int
walk_open(struct walk *w, const char *path, struct err *e)
{
	*w = (struct walk){ 0 };
	if (repo_open_for_reading(path, &w->repo, e) ||
	    repo_branch(w->repo, &w->next, &w->more, e)) {
		walk_close(w);
		return -1;
	}
	return 0;
}

/* Among the batches that change the keys are those that revoke one. */
static int
note_change(struct walk *w, struct arena *a, struct err *e)
{
	struct batch_line line = { 0 };
	struct event ev;
	struct batch b;
	int more;

	if (batch_read(w->repo, w->newer, a, &b, e))
		return -1;
	while ((more = batch_line_next(&b.events, &line, e)) > 0)
		;
	if (more < 0 || event_parse(a, line.event, &ev, e))
		return -1;
	revocations_note(&w->revocations, &ev);
	return 0;
}

int
walk_next(struct walk *w, struct arena *a, struct commit *c, struct trailers *t,
    struct err *e)
{
	if (!w->more)
		return 0;
	if (commit_read(w->repo, w->next, a, c, e) ||
	    trailers_parse(c->message, t, e))
		return -1;
	if (w->has_newer && !digest_eq(w->newer_signers, t->signers) &&
	    note_change(w, a, e))
		return -1;
	w->has_newer = true;
	w->newer = c->oid;
	w->newer_signers = t->signers;
	w->more = c->has_parent;
	w->next = c->parent;
	return 1;
}

int
walk_find(struct walk *w, struct arena *a, uint64_t seq, struct oid *out,
    struct err *e)
{
	struct trailers t;
	struct commit c;
	bool some = false;
	int rc;

	while ((rc = walk_next(w, a, &c, &t, e)) > 0 && t.size > seq) {
		*out = c.oid;
		some = true;
		arena_reset(a);
	}
	if (rc >= 0 && !some)
		return err_set(
		    e, &err_not_found, "there is no event %" PRIu64, seq);
	return rc < 0 ? -1 : 0;
}

void
walk_close(struct walk *w)
{
	repo_close(w->repo);
	w->repo = NULL;
}
