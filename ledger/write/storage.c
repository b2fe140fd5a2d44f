#include "ledger/write/storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BRANCH  "refs/heads/main"
#define ORIGINS 64 /* batches tried */

static int
load_key(struct storage *s, struct err *e)
{
	char *path = arena_printf(s->a, "%s/signing.key", s->o->keys_dir);
	struct private_key *key;

	if (private_key_load(path, &key, e))
		return -1;
	s->key = private_key_public(key);
	private_key_free(key);
	s->keys = (struct signers){ .n = 1 };
	s->keys.keys[0].key = s->key;
	return 0;
}

/* The key history, where the read model has one. */
static void
load_history(struct storage *s)
{
	struct signers keys;

	if (keys_read(s->db, STR_NONE, &keys, NULL) == 0 && keys.n > 0)
		s->keys = keys;
}

/* Without a read model: the keys that the branch's last batch lists, if the key
 * in force is among them. */
static void
load_listed(struct storage *s)
{
	struct arena *a = arena_new();
	struct signers keys;
	struct checkpoint c;
	struct note note;
	struct oid tip;
	struct batch b;
	bool exists;

	if (!repo_branch(s->repo, &tip, &exists, NULL) && exists &&
	    !batch_read(s->repo, tip, a, &b, NULL) &&
	    !note_parse(a, b.checkpoint, &note, NULL) &&
	    !checkpoint_parse(note.text, &c, NULL) &&
	    !signers_parse(&keys, c.origin, b.allowed_signers, NULL) &&
	    signers_find(&keys, s->key)) {
		s->keys = keys;
		s->keys.origin = STR_NONE;
	}
	arena_free(a);
}

static void
add(struct storage *s, struct batch_ref b)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->batches =
		    reallocarray(s->batches, s->room, sizeof *s->batches);
		if (s->batches == NULL)
			abort();
	}
	s->batches[s->n++] = b;
}

static int
list_view(struct storage *s, struct err *e)
{
	struct rows r;
	int rc;

	if (db_query(s->db, &r, e,
		"SELECT first_seq, count, commit_oid FROM ledger_batch"
		" ORDER BY first_seq",
		""))
		return -1;
	while ((rc = rows_next(&r, e)) == 1) {
		struct batch_ref b = { .first = (uint64_t)rows_int(&r, 0),
			.count = (uint64_t)rows_int(&r, 1) };
		struct str oid = rows_borrow(&r, 2);

		if (oid.n != OID_BYTES)
			continue;
		memcpy(b.commit.b, oid.p, OID_BYTES);
		add(s, b);
	}
	if (rows_end(&r, e))
		return -1;
	return rc;
}

/* A read model that cannot be read is as good as none: it is disposable. */
static void
open_view(struct storage *s)
{
	char *path = arena_printf(s->a, "%s/state.db", s->o->dir);

	if (access(path, F_OK) != 0 || db_open(path, DB_READ, &s->db, NULL))
		return;
	if (db_begin_read(s->db, NULL) == 0) {
		s->has_view = position_load(s->db, &s->view, NULL) == 0 &&
			      s->view.has_commit && list_view(s, NULL) == 0 &&
			      s->n > 0 && storage_size(s) == s->view.size;
		load_history(s);
		db_rollback(s->db);
	}
	if (!s->has_view)
		s->n = 0;
}

int
storage_open(const struct ledger_options *o, struct storage *s, struct err *e)
{
	*s = (struct storage){ .o = o, .a = arena_new() };
	s->path = arena_printf(s->a, "%s/ledger.git", o->dir);
	if (load_key(s, e) || repo_open_for_reading(s->path, &s->repo, e)) {
		storage_close(s);
		return -1;
	}
	open_view(s);
	if (!s->has_view)
		load_listed(s);
	return 0;
}

void
storage_close(struct storage *s)
{
	db_close(s->db);
	if (s->repo)
		repo_close(s->repo);
	free(s->batches);
	if (s->a)
		arena_free(s->a);
	*s = (struct storage){ 0 };
}

uint64_t
storage_size(const struct storage *s)
{
	const struct batch_ref *last = s->n ? &s->batches[s->n - 1] : NULL;

	return last ? last->first + last->count : 0;
}

static void
turn_around(struct batch_ref *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct batch_ref swap = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = swap;
	}
}

/* Ends were noted as counts; now each begins where the one before ended. The
 * oldest may have nothing before it that could be read. */
static void
set_begins(struct storage *s, size_t kept, uint64_t begin)
{
	for (size_t i = kept; i < s->n; i++) {
		struct batch_ref *b = &s->batches[i];
		uint64_t end = b->count;

		b->first = begin;
		b->count = end > begin ? end - begin : 0;
		begin = end;
	}
}

int
storage_walk(struct storage *s, struct oid tip,
    const struct commit_source *source, bool *whole, struct err *e)
{
	struct arena *a = arena_new();
	uint64_t begin = storage_size(s);
	size_t kept = s->n;
	struct trailers t = { 0 };
	struct commit c;
	int rc = 1;

	*whole = false;
	while (!*whole && rc == 1) {
		if (kept > 0 && oid_eq(tip, s->batches[kept - 1].commit)) {
			*whole = true;
			break;
		}
		arena_reset(a);
		rc = source->read(source->arg, tip, a, &c, e);
		if (rc != 1)
			break;
		if (trailers_parse(c.message, &t, NULL))
			t.size = 0;
		add(s, (struct batch_ref){ .commit = tip, .count = t.size });
		*whole = !c.has_parent;
		tip = c.parent;
	}
	arena_free(a);
	if (!*whole && t.size > 0)
		begin = t.size - 1;
	turn_around(s->batches + kept, s->n - kept);
	set_begins(s, kept, begin);
	return rc < 0 ? -1 : 0;
}

const struct batch_ref *
storage_find(const struct storage *s, struct oid commit)
{
	for (size_t i = s->n; i-- > 0;)
		if (oid_eq(s->batches[i].commit, commit))
			return &s->batches[i];
	return NULL;
}

static int
bad_branch(struct damage *d, const char *what)
{
	*d = (struct damage){ .kind = "branch" };
	snprintf(d->name, sizeof d->name, "%s", BRANCH);
	snprintf(d->what, sizeof d->what, "%s", what);
	return 0;
}

/* The branch moves before the read model does, so it is never behind. */
int
storage_branch(
    struct storage *s, struct oid *tip, struct damage *d, struct err *e)
{
	const struct batch_ref *found;
	struct err why = { 0 };
	bool exists;

	if (repo_branch(s->repo, tip, &exists, &why)) {
		if (why.kind != &err_corrupt)
			return err_set(e, why.kind, "%s", why.detail);
		return bad_branch(d, "it cannot be read");
	}
	if (!exists)
		return bad_branch(d, "it is missing");
	if (!s->has_view || oid_eq(*tip, s->view.commit))
		return 1;
	found = storage_find(s, *tip);
	if (found)
		return bad_branch(d, "it is behind the batches recorded");
	if (!repo_has(s->repo, *tip))
		return bad_branch(d, "it names a commit that is not here");
	return 1;
}

static bool
is_signed(
    const struct note *note, struct str origin, const struct signers *keys)
{
	for (size_t i = 0; i < keys->n; i++)
		if (note_verify(note, origin, keys->keys[i].key))
			return true;
	return false;
}

struct str
storage_origin(struct storage *s)
{
	struct str origin = STR_NONE;
	struct checkpoint c;
	struct note note;
	struct batch b;

	for (size_t i = 0; i < s->n && i < ORIGINS && !origin.p; i++) {
		struct arena *a = arena_new();

		if (!batch_read(s->repo, s->batches[s->n - 1 - i].commit, a, &b,
			NULL) &&
		    !note_parse(a, b.checkpoint, &note, NULL) &&
		    !checkpoint_parse(note.text, &c, NULL) &&
		    is_signed(&note, c.origin, &s->keys))
			origin = arena_str(s->a, c.origin);
		arena_free(a);
	}
	return origin.p ? origin : s->o->origin;
}
