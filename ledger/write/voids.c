/*
 * Which events project nothing. A revocation comes after the events that it
 * makes void, so the path to the tip is looked through for revocations before
 * anything on it is projected. They are few: the commits whose trailer
 * Ledger-Signers is another than the one before.
 */
#include "ledger/chain/key_event.h"
#include "ledger/write/writer.h"

int
voids_note(struct path_changes *p, struct oid commit, const struct trailers *t,
    struct err *e)
{
	if (p->has_newer && !digest_eq(p->newer, t->signers)) {
		if (p->n == VOIDS_MAX)
			return err_set(e, &err_corrupt,
			    "the branch changes its keys more often than a "
			    "ledger can");
		p->commits[p->n++] = p->newer_commit;
	}
	p->has_newer = true;
	p->newer = t->signers;
	p->newer_commit = commit;
	return 0;
}

/* The range that the batch makes void, if it ends with a revocation. */
static int
find_range(struct ledger *l, struct oid commit, struct arena *a, struct err *e)
{
	struct voids *v = &l->voids;
	struct batch_line line = { 0 };
	struct revoked r;
	struct event ev;
	struct batch b;
	int rc;

	if (batch_read(l->repo, commit, a, &b, e))
		return -1;
	while ((rc = batch_line_next(&b.events, &line, e)) == 1)
		;
	if (rc < 0 || event_parse(a, line.event, &ev, e))
		return -1;
	if (!str_is(ev.type, TYPE_KEY_REVOKED))
		return 0;
	if (revoked_decode(ev.data, l->origin, &r, e))
		return -1;
	v->ranges[v->n].from = r.size;
	v->ranges[v->n++].until = ev.seq;
	return 0;
}

int
voids_find(
    struct ledger *l, const struct path_changes *p, bool *anew, struct err *e)
{
	struct arena *a = arena_new();
	int rc = 0;

	l->voids.n = 0;
	*anew = false;
	for (size_t i = 0; i < p->n && rc == 0; i++) {
		arena_reset(a);
		rc = find_range(l, p->commits[i], a, e);
	}
	for (size_t i = 0; i < l->voids.n; i++)
		if (l->voids.ranges[i].from < l->position.size)
			*anew = true;
	arena_free(a);
	return rc;
}

bool
voids_have(const struct voids *v, uint64_t seq)
{
	for (size_t i = 0; i < v->n; i++)
		if (seq >= v->ranges[i].from && seq < v->ranges[i].until)
			return true;
	return false;
}
