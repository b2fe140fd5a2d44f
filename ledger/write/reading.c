#include <stdlib.h>
#include <string.h>

#include "ledger/base/io.h"
#include "ledger/write/writer.h"

/* A process that dies between branch and read model is noticed that soon. */
#define LOOK_EVERY_US 50000

#define SQL_BATCH                                               \
	"SELECT first_seq, count, commit_oid FROM ledger_batch" \
	" WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1"

static struct reader *
take_reader(struct ledger *l)
{
	struct reader *r;

	pthread_mutex_lock(&l->readers_lock);
	r = l->readers;
	if (r != NULL)
		l->readers = r->next;
	pthread_mutex_unlock(&l->readers_lock);
	return r;
}

static struct reader *
open_reader(struct ledger *l, struct err *e)
{
	struct reader *r = calloc(1, sizeof *r);

	if (r == NULL)
		abort();
	if (db_open(l->db_path, DB_READ, &r->db, e) == 0 &&
	    repo_open_for_reading(l->repo_path, &r->repo, e) == 0 &&
	    moved_check(l, e) == 0)
		return r;
	db_close(r->db);
	repo_close(r->repo);
	free(r);
	return NULL;
}

/*
 * A second connection to the read model costs a plain CGI program a tenth of
 * its time: SQLite parses the schema anew. So there the writer's is lent while
 * nothing is written with it.
 */
static struct reader *
borrow(struct ledger *l)
{
	if (!l->brief || l->lent || l->at_work)
		return NULL;
	if (l->borrower == NULL &&
	    !(l->borrower = calloc(1, sizeof *l->borrower)))
		abort();
	l->borrower->db = l->db;
	l->borrower->repo = l->repo;
	l->lent = true;
	return l->borrower;
}

/* Who reads keeps the connection, and the writer opens another. */
int
lending_end(struct ledger *l, struct err *e)
{
	struct db *db;
	struct repo *repo;

	if (!l->lent)
		return 0;
	if (db_open(l->db_path, DB_WRITE, &db, e))
		return -1;
	if (repo_open(l->repo_path, &repo, e)) {
		db_close(db);
		return -1;
	}
	l->db = db;
	l->repo = repo;
	l->borrower = NULL;
	l->lent = false;
	return 0;
}

/* One reader looks at the branch now and then; the others need not. */
static bool
is_time_to_look(struct ledger *l)
{
	int64_t now = l->clock->steady(l->clock).us;
	int64_t last = atomic_load(&l->looked_us);

	return now - last >= LOOK_EVERY_US &&
	       atomic_compare_exchange_strong(&l->looked_us, &last, now);
}

/* Whether nobody is at work: then what is missing will stay missing. */
static bool
is_idle(struct ledger *l)
{
	bool idle;

	if (pthread_mutex_trylock(&l->work) != 0)
		return false;
	idle = turn_try(l->turn);
	if (idle)
		turn_release(l->turn);
	pthread_mutex_unlock(&l->work);
	return idle;
}

/* Whether the branch has left the read model behind and nobody is at work: a
 * process died between the two. */
static bool
is_left_behind(struct ledger *l, struct reader *r)
{
	struct position p;
	struct oid tip;
	bool exists;

	if (repo_branch(r->repo, &tip, &exists, NULL) || !exists ||
	    position_load(r->db, &p, NULL) ||
	    (p.has_commit && oid_eq(tip, p.commit)))
		return false;
	return is_idle(l);
}

static void
ask_for_empty_turn(struct ledger *l)
{
	struct arena *a = arena_new();
	struct command c = { .arena = a };
	struct receipt r;

	ledger_submit(l, &c, &r, NULL);
	arena_free(a);
}

int
ledger_read_begin(struct ledger *l, struct reading *out, struct err *e)
{
	struct reader *r;

	*out = (struct reading){ .ledger = l };
	if (moved_check(l, e))
		return -1;
	if ((r = borrow(l)) == NULL && (r = take_reader(l)) == NULL &&
	    (r = open_reader(l, e)) == NULL)
		return -1;
	out->reader = r;
	out->db = r->db;
	out->repo = r->repo;
	if (db_begin_read(r->db, e))
		goto fail;
	if (is_time_to_look(l) && is_left_behind(l, r)) {
		db_rollback(r->db);
		ask_for_empty_turn(l);
		if (db_begin_read(r->db, e))
			goto fail;
	}
	return 0;
fail:
	ledger_read_end(out);
	return -1;
}

void
ledger_read_end(struct reading *reading)
{
	struct ledger *l = reading->ledger;
	struct reader *r = reading->reader;

	if (r == NULL)
		return;
	db_rollback(r->db);
	reading->reader = NULL;
	if (r == l->borrower) {
		l->lent = false;
		return;
	}
	pthread_mutex_lock(&l->readers_lock);
	r->next = l->readers;
	l->readers = r;
	pthread_mutex_unlock(&l->readers_lock);
}

int
ledger_read_size(struct reading *reading, uint64_t *out, struct err *e)
{
	int64_t size;

	if (db_get_int(reading->db, &size, 0, e,
		"SELECT size FROM ledger_position", ""))
		return -1;
	*out = (uint64_t)size;
	return 0;
}

int
ledger_read_keys(struct reading *r, struct signers *out, struct err *e)
{
	return keys_read(r->db, r->ledger->origin, out, e);
}

int
ledger_read_batch_place(
    struct reading *r, uint64_t seq, struct batch_place *out, struct err *e)
{
	struct rows rows;
	bool found = false;

	*out = (struct batch_place){ 0 };
	if (seq > INT64_MAX)
		goto none;
	if (db_query(r->db, &rows, e, SQL_BATCH, "i", (int64_t)seq))
		return -1;
	if (rows_next(&rows, e) == 1) {
		struct str oid = rows_borrow(&rows, 2);

		out->first = (uint64_t)rows_int(&rows, 0);
		out->count = (uint64_t)rows_int(&rows, 1);
		found = oid.n == OID_BYTES && seq - out->first < out->count;
		if (found)
			memcpy(out->commit.b, oid.p, OID_BYTES);
	}
	if (rows_end(&rows, e))
		return -1;
	if (found)
		return 0;
none:
	return err_set(
	    e, &err_not_found, "no event %llu here", (unsigned long long)seq);
}

/* Takes an event and its line off *rest. */
static int
take_event(const struct signers *keys, struct str *rest, uint64_t seq,
    struct arena *a, struct stored_event *out, struct err *e)
{
	const struct signers_key *key = signers_at(keys, seq);
	uint32_t key_id = key ? note_key_id(keys->origin, key->key) : 0;
	struct recorded *rec = &out->recorded;
	struct batch_line line;
	int rc = batch_line_next(rest, &line, e);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(e, &err_corrupt, "a batch is too short");
	if (event_parse(a, line.event, &rec->event, e))
		return -1;
	if (!key || !batch_line_signature(&line, key_id, &rec->signature))
		return err_set(e, &err_corrupt, "event %llu is not signed",
		    (unsigned long long)seq);
	rec->seq = seq;
	rec->key_id = key_id;
	rec->hash = rec->event.hash;
	out->line = line.whole;
	out->revocation = signers_void(keys, seq);
	return 0;
}

/* What the batch's list of traces says of an event. */
static struct str
trace_of(struct str list, uint64_t seq)
{
	while (list.p) {
		struct str trace = str_take(&list, '\n');
		struct str number = str_take(&trace, ' ');
		uint64_t n;

		if (str_to_u64(number, &n) && n == seq && str_is_utf8(trace))
			return trace;
	}
	return STR_NONE;
}

static int
skip_lines(struct str *rest, uint64_t n, struct err *e)
{
	struct batch_line line;
	int rc = 1;

	while (n-- > 0 && rc == 1)
		rc = batch_line_next(rest, &line, e);
	if (rc == 0)
		return err_set(e, &err_corrupt, "a batch is too short");
	return rc < 0 ? -1 : 0;
}

/* What of the batch that holds event `first` is asked for: 1 to n events. */
static int
read_some(struct reading *r, uint64_t first, size_t n, struct arena *a,
    struct stored_event *out, size_t *done, struct err *e)
{
	struct signers *keys = ARENA_NEW(a, struct signers);
	struct batch_place at;
	struct batch b;
	struct str rest;

	if (ledger_read_batch_place(r, first, &at, e) ||
	    ledger_read_keys(r, keys, e) ||
	    batch_read(r->repo, at.commit, a, &b, e))
		return -1;
	rest = b.events;
	if (skip_lines(&rest, first - at.first, e))
		return -1;
	if (n > at.count - (first - at.first))
		n = at.count - (first - at.first);
	for (size_t i = 0; i < n; i++) {
		out[i] = (struct stored_event){ .commit = at.commit,
			.checkpoint = b.checkpoint,
			.trace = trace_of(b.traces, first + i) };
		if (take_event(keys, &rest, first + i, a, &out[i], e))
			return -1;
	}
	*done = n;
	return 0;
}

int
ledger_read_events(struct reading *r, uint64_t first, size_t n, struct arena *a,
    struct stored_event *out, struct err *e)
{
	size_t done;

	for (; n > 0; n -= done, first += done, out += done)
		if (read_some(r, first, n, a, out, &done, e))
			return -1;
	return 0;
}

int
ledger_read_event(struct reading *r, uint64_t seq, struct arena *a,
    struct stored_event *out, struct err *e)
{
	return ledger_read_events(r, seq, 1, a, out, e);
}

int
ledger_read_payload(struct reading *r, uint64_t seq, struct digest sha256,
    size_t max, struct arena *a, struct str *out, struct err *e)
{
	struct batch_place at;
	struct batch b;

	if (ledger_read_batch_place(r, seq, &at, e) ||
	    batch_read(r->repo, at.commit, a, &b, e))
		return -1;
	for (size_t i = 0; i < b.n_payloads; i++)
		if (digest_eq(b.payloads[i].sha256, sha256))
			return payload_read(
			    r->repo, b.payloads[i].oid, sha256, max, a, out, e);
	return err_set(e, &err_not_found, "no such content beside event %llu",
	    (unsigned long long)seq);
}

int
ledger_read_status(struct reading *r, struct arena *a,
    struct ledger_status *out, struct err *e)
{
	struct position p;
	struct batch b;

	if (position_load(r->db, &p, e) ||
	    io_free_bytes(r->ledger->dir, &out->free_bytes, e))
		return -1;
	out->size = p.size;
	out->batches = p.batches;
	out->head = p.head;
	out->root = merkle_root(&p.tree);
	out->commit = p.commit;
	out->last_at = p.last_at;
	out->checkpoint = STR_NONE;
	if (!p.has_commit)
		return 0;
	if (batch_read(r->repo, p.commit, a, &b, e))
		return -1;
	out->checkpoint = b.checkpoint;
	return 0;
}
