/*
 * The read model catches up with the branch: every batch it has not seen is
 * verified in full and projected, oldest first.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/write/index_rows.h"
#include "ledger/write/writer.h"

#define SQL_IDEMPOTENCY                               \
	"INSERT INTO idempotency VALUES (?, ?, ?, ?)" \
	" ON CONFLICT (key_hmac) DO UPDATE SET last_seq = excluded.last_seq"

static int
compare_type(const void *name, const void *entry)
{
	const struct event_type *const *type = entry;

	return str_cmp(*(const struct str *)name, str_from((*type)->name));
}

const struct event_type *
ledger_find_type(const struct ledger *l, struct str name)
{
	const struct event_type *const *found = bsearch(
	    &name, l->types, l->n_types, sizeof *l->types, compare_type);

	return found ? *found : NULL;
}

/* What is kept of a void event too: that it is there, and which content keys
 * its values are under. */
static int
note_event(struct ledger *l, const struct event *ev, const void *data,
    const struct event_type *type, bool is_void, struct err *e)
{
	struct str subject = { (const char *)ev->subject.b,
		sizeof ev->subject.b };

	if (content_note(l, ev, data, type->data, e))
		return -1;
	return db_run(l->db, e,
	    "INSERT INTO ledger_subject VALUES (?, ?, ?, ?)", "bisi", subject,
	    (int64_t)ev->seq, ev->subject_kind, (int64_t)is_void);
}

int
ledger_project(struct ledger *l, const struct event *ev, const void *data,
    const struct event_type *type, struct err *e)
{
	int64_t seq = (int64_t)ev->seq;

	if (type->project(l->db, ev, data, e) ||
	    note_event(l, ev, data, type, false, e))
		return -1;
	if (!ev->idempotency.set)
		return 0;
	return db_run(l->db, e, SQL_IDEMPOTENCY, "ddii",
	    ev->idempotency.key_hmac, ev->idempotency.request_hmac, seq, seq);
}

static int
project_event(struct ledger *l, const struct event *ev, struct digest leaf,
    struct position *p, struct arena *a, struct err *e)
{
	const struct event_type *type = ledger_find_type(l, ev->type);
	void *data;

	if (type == NULL)
		return err_set(e, &err_corrupt,
		    "event %llu has a type this program does not know: %.*s",
		    (unsigned long long)ev->seq, STR_ARGS(ev->type));
	data = arena_alloc(a, type->data->size);
	if (shape_decode_json(type->data, ev->data, a, data, e)) {
		if (e)
			e->kind = &err_corrupt;
		return -1;
	}
	if (voids_have(&l->voids, ev->seq)
		? note_event(l, ev, data, type, true, e)
		: ledger_project(l, ev, data, type, e))
		return -1;
	merkle_append(&p->tree, leaf);
	position_advance(p, ev, data, type);
	return 0;
}

static int
bad_batch(const struct position *p, const char *why, struct err *e)
{
	return err_set(e, &err_corrupt, "batch at event %llu: %s",
	    (unsigned long long)p->size, why);
}

static int
check_event(const struct ledger *l, const struct batch_line *line,
    const struct event *ev, const struct position *p, struct public_key key,
    struct err *e)
{
	struct signature s;

	if (!batch_line_signature(line, note_key_id(l->origin, key), &s) ||
	    !ed25519_verify(key, ev->bytes, s))
		return bad_batch(p, "an event's signature is bad", e);
	if (ev->seq != p->size || !digest_eq(ev->prev, p->head))
		return bad_batch(p, "the hash chain is broken", e);
	if (!str_eq(ev->ledger, l->origin))
		return bad_batch(p, "an event belongs to another ledger", e);
	if (ev->at.us < p->last_at.us)
		return bad_batch(p, "an event is earlier than the last", e);
	return 0;
}

static int
check_checkpoint(const struct ledger *l, const struct batch *b,
    const struct position *p, struct public_key key, struct arena *a,
    struct err *e)
{
	struct note note;
	struct checkpoint c;

	if (note_parse(a, b->checkpoint, &note, e) ||
	    checkpoint_parse(note.text, &c, e))
		return bad_batch(p, "the checkpoint is unreadable", e);
	if (!note_verify(&note, l->origin, key))
		return bad_batch(p, "the checkpoint's signature is bad", e);
	if (!str_eq(c.origin, l->origin) || c.size != p->size ||
	    !digest_eq(c.root, merkle_root(&p->tree)))
		return bad_batch(p, "the checkpoint is of other events", e);
	return 0;
}

static int
check_commit(const struct batch *b, const struct position *p,
    struct public_key key, struct err *e)
{
	struct sshsig sig;

	if (sshsig_parse(b->commit.gpgsig, &sig, e) ||
	    !public_key_eq(sig.key, key) ||
	    !sshsig_verify(&sig, STR("git"), b->commit.signed_bytes))
		return bad_batch(p, "the commit's signature is bad", e);
	return 0;
}

/* After the batch: a key event changes them. */
static int
check_signers(const struct ledger *l, const struct batch *b,
    const struct position *p, struct err *e)
{
	if (!str_eq(b->allowed_signers, l->allowed_signers) ||
	    !digest_eq(b->trailers.signers, sha256(b->allowed_signers)))
		return bad_batch(p, "allowed_signers is not as it must be", e);
	return 0;
}

static int
check_trailers(const struct batch *b, const struct position *p, struct err *e)
{
	if (b->trailers.size != p->size ||
	    !digest_eq(b->trailers.head, p->head) ||
	    !digest_eq(b->trailers.root, merkle_root(&p->tree)))
		return bad_batch(p, "the trailers are of other events", e);
	return 0;
}

static int
project_index(struct ledger *l, const struct batch *b,
    const struct index_event *events, size_t n, struct arena *a, struct err *e)
{
	struct digest root;
	bool announced;

	if (index_rows_add(l->db, events, n, a, &root, e) ||
	    index_is_announced(l->db, &announced, e))
		return -1;
	if (announced &&
	    (!b->trailers.has_index || !digest_eq(b->trailers.index, root)))
		return bad_batch(&l->position,
		    "the trailer " INDEX_TRAILER
		    " is not the root of the index over the events",
		    e);
	return 0;
}

static int
find_first_key(const struct batch *b, struct arena *a, struct public_key *key,
    struct err *e)
{
	struct str rest = b->events;
	struct batch_line line;
	struct opened opened;
	struct event ev;

	if (batch_line_next(&rest, &line, e) != 1 ||
	    event_parse(a, line.event, &ev, e) ||
	    opened_decode(ev.data, &opened, e))
		return -1;
	*key = opened.key;
	return 0;
}

/* The key by which the batch has to be signed: only a batch that changes the
 * keys can be signed by another one than that in force. */
static int
find_key(const struct ledger *l, const struct batch *b, struct arena *a,
    struct public_key *key, struct err *e)
{
	struct str rest = b->events;
	struct batch_line line = { 0 };
	struct event ev;
	int rc;

	if (l->keys.n == 0)
		return find_first_key(b, a, key, e);
	*key = signers_in_force(&l->keys)->key;
	if (str_eq(b->allowed_signers, l->allowed_signers))
		return 0;
	while ((rc = batch_line_next(&rest, &line, e)) == 1)
		;
	if (rc < 0 || event_parse(a, line.event, &ev, e))
		return -1;
	*key = keys_of_batch(l, ev.type);
	return 0;
}

static int
project_lines(struct ledger *l, const struct batch *b, struct public_key key,
    struct position *p, struct digest *leaves, struct index_event *records,
    struct arena *a, struct err *e)
{
	struct str rest = b->events;
	struct instant floor = keys_floor(l);
	struct batch_line line;
	bool changed = false;
	int n = 0, rc;

	for (; (rc = batch_line_next(&rest, &line, e)) == 1; n++) {
		struct event ev;

		if (n == BATCH_EVENTS)
			return bad_batch(p, "too many events", e);
		leaves[n] = merkle_leaf(line.event);
		if (event_parse(a, line.event, &ev, e) ||
		    check_event(l, &line, &ev, p, key, e))
			return -1;
		if (changed)
			return bad_batch(
			    p, "an event follows a change of keys", e);
		if (project_event(l, &ev, leaves[n], p, a, e) ||
		    keys_follow(l, &ev, e))
			return -1;
		records[n] = index_event_of(&ev);
		changed = signers_change(ev.type);
	}
	if (rc == 0 && p->last_at.us < floor.us)
		return bad_batch(p, "it is earlier than its key", e);
	return rc < 0 ? -1 : n;
}

static int
project_batch(
    struct ledger *l, const struct batch *b, struct arena *a, struct err *e)
{
	struct position p = l->position;
	struct digest leaves[BATCH_EVENTS];
	struct index_event records[BATCH_EVENTS];
	struct public_key key;
	int n;

	if (find_key(l, b, a, &key, e) || check_commit(b, &p, key, e))
		return -1;
	n = project_lines(l, b, key, &p, leaves, records, a, e);
	if (n < 0 || check_signers(l, b, &p, e) ||
	    check_checkpoint(l, b, &p, key, a, e) || check_trailers(b, &p, e) ||
	    (n > 0 && project_index(l, b, records, (size_t)n, a, e)))
		return -1;
	p.has_commit = true;
	p.commit = b->commit.oid;
	p.batches++;
	if (position_add_batch(
		l->db, l->position.size, leaves, (size_t)n, p.commit, e))
		return -1;
	l->position = p;
	return 0;
}

/* Commits from the tip back to where the read model stands. */
struct path {
	struct oid *oids; /* newest first */
	size_t n, room;
	uint64_t size; /* of the ledger at the tip */
	struct path_changes changes;
};

static void
path_add(struct path *p, struct oid oid)
{
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 256;
		p->oids = reallocarray(p->oids, p->room, sizeof *p->oids);
		if (p->oids == NULL)
			abort();
	}
	p->oids[p->n++] = oid;
}

static int
read_commit(struct ledger *l, struct oid oid, struct arena *a, struct commit *c,
    struct err *e)
{
	struct str bytes;

	if (repo_read(l->repo, oid, OBJECT_COMMIT, 65536, a, &bytes, e))
		return -1;
	return commit_parse(a, bytes, c, e);
}

/* The read model's own last batch, as if it were the path's oldest. */
static int
note_position(struct ledger *l, struct path *path, struct err *e)
{
	struct trailers t = { .signers = sha256(l->allowed_signers) };

	return voids_note(&path->changes, l->position.commit, &t, e);
}

static int
path_find(struct ledger *l, struct oid tip, struct path *path, struct err *e)
{
	const struct position *at = &l->position;
	struct arena *a = arena_new();
	struct commit c = { .has_parent = true, .parent = tip };
	struct trailers t;
	int rc = 0;

	while (
	    c.has_parent && !(at->has_commit && oid_eq(c.parent, at->commit))) {
		struct oid oid = c.parent;

		arena_reset(a);
		if ((rc = read_commit(l, oid, a, &c, e)) != 0)
			break;
		if (trailers_parse(c.message, &t, NULL) == 0) {
			if (path->n == 0)
				path->size = t.size;
			if ((rc = voids_note(&path->changes, oid, &t, e)) != 0)
				break;
		}
		path_add(path, oid);
	}
	if (rc == 0 && at->has_commit && path->n > 0)
		rc = note_position(l, path, e);
	if (rc == 0 && at->has_commit && !c.has_parent)
		rc = err_set(e, &err_rolled_back,
		    "the branch does not hold the %llu events recorded",
		    (unsigned long long)at->size);
	arena_free(a);
	return rc;
}

static int
commit_so_far(struct ledger *l, struct err *e)
{
	if (position_save(l->db, &l->position, e) || db_commit(l->db, e))
		return -1;
	return db_begin_write(l->db, e);
}

static int
walk(struct ledger *l, const struct path *path, uint64_t every,
    const struct progress *progress, struct err *e)
{
	struct arena *a = arena_new();
	uint64_t mark = l->position.size;
	struct err why = { 0 };
	struct batch b;
	int rc = 0;

	for (size_t i = path->n; i > 0 && rc == 0; i--) {
		arena_reset(a);
		if (batch_read(l->repo, path->oids[i - 1], a, &b, &why) ||
		    project_batch(l, &b, a, &why))
			rc = err_own(e, &err_corrupt, &why);
		else if (every > 0 && l->position.size - mark >= every) {
			rc = commit_so_far(l, e);
			mark = l->position.size;
		}
		if (progress != NULL && progress->call != NULL)
			progress->call(
			    progress->arg, l->position.size, path->size);
	}
	arena_free(a);
	return rc;
}

int
catch_up(struct ledger *l, struct oid tip, uint64_t every,
    const struct progress *progress, struct err *e)
{
	struct path path = { 0 };
	bool anew = false;
	int rc = path_find(l, tip, &path, e);

	if (rc == 0)
		rc = voids_find(l, &path.changes, &anew, e);
	if (rc == 0 && anew) {
		free(path.oids);
		return project_anew(l, progress, e);
	}
	if (rc == 0 && every > 0)
		rc = db_begin_write(l->db, e);
	if (rc == 0) {
		rc = walk(l, &path, every, progress, e);
		if (rc == 0)
			rc = position_save(l->db, &l->position, e);
		if (rc == 0 && every > 0)
			rc = db_commit(l->db, e);
		if (rc && every > 0)
			db_rollback(l->db);
	}
	free(path.oids);
	return rc;
}
