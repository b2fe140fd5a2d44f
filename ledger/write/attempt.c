#include <string.h>

#include "ledger/base/log.h"
#include "ledger/codec/text.h"
#include "ledger/write/index_rows.h"
#include "ledger/write/writer.h"

static void
begin(struct ledger *l)
{
	struct draft *d = &l->draft;

	arena_reset(l->arena);
	d->n = d->bytes = 0;
	d->tickets = (struct ticket_list){ 0 };
	d->before = d->after = l->position;
	signing_begin(
	    &l->signing, l->signer, d->events, d->signatures, d->leaves);
}

/* Decides what waits, in order, until nothing does or the batch is full. The
 * first ticket is the leader's own, so it never helps. */
static int
decide_all(struct ledger *l, struct ticket *only, struct err *e)
{
	struct ticket *t = only ? only : queue_next(l);
	size_t helpers = 0, decided = 0;
	int rc = 1;

	if (t == NULL)
		return 0;
	if (db_begin_write(l->db, e)) {
		ticket_push(&l->draft.tickets, t);
		return -1;
	}
	while (t != NULL && (rc = decide_ticket(l, t, e)) == 1) {
		ticket_push(&l->draft.tickets, t);
		signing_offer(&l->signing, l->draft.n);
		if (decided++ > 0 && helpers < l->helpers_max) {
			queue_enlist(l, t);
			helpers++;
		}
		t = only ? NULL : queue_next(l);
	}
	if (rc == 0)
		queue_put_back(l, t);
	if (rc < 0)
		ticket_push(&l->draft.tickets, t);
	return rc < 0 ? -1 : 0;
}

/* *root is NULL until the ledger's index is announced. */
static int
add_to_index(struct ledger *l, const struct digest **root, struct err *e)
{
	const struct draft *d = &l->draft;
	struct digest *sum = ARENA_NEW(l->arena, struct digest);
	struct index_event *events =
	    arena_array(l->arena, d->n, sizeof *events);
	bool announced;

	for (size_t i = 0; i < d->n; i++)
		events[i] = index_event_of(&d->events[i]);
	if (index_rows_add(l->db, events, d->n, l->arena, sum, e) ||
	    index_is_announced(l->db, &announced, e))
		return -1;
	*root = announced ? sum : NULL;
	return 0;
}

static int
seal(struct ledger *l, struct batch_sealed *sealed, struct err *e)
{
	struct draft *d = &l->draft;
	struct batch_draft b = {
		.signer = l->signer,
		.has_parent = d->before.has_commit,
		.parent = d->before.commit,
		.events = d->events,
		.signatures = d->signatures,
		.n = d->n,
		.allowed_signers = l->allowed_signers,
	};

	for (size_t i = 0; i < d->n; i++)
		merkle_append(&d->after.tree, d->leaves[i]);
	b.tree = d->after.tree;
	if (add_to_index(l, &b.index, e) || batch_seal(l->arena, &b, sealed, e))
		return -1;
	d->after.has_commit = true;
	d->after.commit = sealed->record.commit;
	d->after.batches++;
	if (position_add_batch(
		l->db, d->before.size, d->leaves, d->n, d->after.commit, e))
		return -1;
	return position_save(l->db, &d->after, e);
}

static size_t
record_bytes(const struct record *r)
{
	size_t n = 4096;

	for (size_t i = 0; i < r->n_objects; i++)
		n += r->objects[i].bytes.n + 64;
	return n;
}

/* Room for the record even if the ring's end has to be skipped. */
static int
make_room(struct ledger *l, const struct record *r, struct err *e)
{
	uint64_t need = 2 * record_bytes(r);

	if (journal_used(l->journal) + need <= JOURNAL_BYTES)
		return 0;
	if (repo_sync(l->repo, e)) {
		l->torn = true;
		journal_doubt_boot(l->journal, NULL);
	} else if (journal_free(l->journal, journal_end(l->journal), e) == 0)
		return 0;
	l->failed = true;
	return -1;
}

/*
 * The durable point: 0 it has happened, -1 it has not, 1 nobody can say. A
 * failed sync is looked into at once: often the second one succeeds.
 */
static int
make_durable(struct ledger *l, const struct record *r, struct err *e)
{
	uint64_t end = journal_end(l->journal);
	struct err again = { 0 };

	if (journal_append(l->journal, r, e) == 0)
		return 0;
	if (e->kind != &err_outcome_unknown)
		return -1;
	l->failed = true;
	if (journal_recover(l->journal, &again))
		return 1;
	if (journal_end(l->journal) == end) {
		e->kind = &err_unavailable;
		return -1;
	}
	err_clear(e);
	return 0;
}

int
attempt_alone(struct ledger *l, const struct record *r, struct err *e)
{
	return make_room(l, r, e) ? -1 : make_durable(l, r, e);
}

/* It has happened. What fails now is mended at the next turn. */
static void
publish(struct ledger *l, const struct record *r)
{
	struct err e = { 0 };

	if (repo_write(l->repo, r->objects, r->n_objects, &e) ||
	    repo_move_branch(l->repo, r->has_parent ? &r->parent : NULL,
		r->commit, false, &e)) {
		l->failed = true;
		log_line(LOG_ERROR, "ledger", "publish: %s", e.detail);
	} else if (!l->failed) {
		l->published = journal_end(l->journal);
	}
	err_clear(&e);
	if (db_commit(l->db, &e)) {
		db_rollback(l->db);
		l->failed = true;
		log_line(LOG_ERROR, "ledger", "read model: %s", e.detail);
		return;
	}
	l->position = l->draft.after;
	anchor_write(l);
}

static void
fill_receipt(
    struct ledger *l, struct ticket *t, const struct batch_sealed *sealed)
{
	const struct draft *d = &l->draft;
	struct arena *a = t->command->arena;
	struct recorded *events = arena_array(a, t->n, sizeof *events);

	for (size_t i = 0; i < t->n; i++) {
		const struct event *ev = &d->events[t->first + i];

		events[i] = (struct recorded){
			.seq = ev->seq,
			.hash = ev->hash,
			.signature = d->signatures[t->first + i],
			.key_id = signer_key_id(l->signer),
			.event = *ev,
		};
	}
	*t->receipt = (struct receipt){
		.events = events,
		.n = t->n,
		.commit = d->after.commit,
		.checkpoint = arena_str(a, sealed->checkpoint),
		.size = d->after.size,
	};
}

static void
fill_receipts(struct ledger *l, const struct batch_sealed *sealed)
{
	struct ticket *t = l->draft.tickets.first;

	for (; t != NULL; t = t->next) {
		if (t->n > 0)
			fill_receipt(l, t, sealed);
		t->receipt->size = l->draft.after.size;
	}
}

/* Tells a command what to look for later. */
static void
answer_unknown(struct ledger *l, struct ticket *t, const struct err *why)
{
	struct arena *a = t->command->arena;
	struct json *more = json_object(a);
	char *hex = arena_alloc(a, DIGEST_HEX + 1);
	const struct event *ev;

	t->result = -1;
	if (t->err == NULL)
		return;
	*t->err = *why;
	if (t->n == 0)
		return;
	ev = &l->draft.events[t->first];
	digest_hex(ev->hash, hex);
	json_put_str(a, more, "event_hash", str_from(hex));
	json_put_int(a, more, "seq", (int64_t)ev->seq);
	t->err->extension = more;
}

static int
settle(struct ledger *l, struct err *e)
{
	struct batch_sealed sealed;
	struct ticket *t;
	int64_t since_us;
	int rc;

	if (seal(l, &sealed, e) || make_room(l, &sealed.record, e))
		return -1;
	since_us = clock_system.steady(&clock_system).us;
	rc = make_durable(l, &sealed.record, e);
	if (rc < 0)
		return -1;
	counting_batch(
	    l, l->draft.n, clock_system.steady(&clock_system).us - since_us);
	if (rc > 0) {
		db_rollback(l->db);
		for (t = l->draft.tickets.first; t != NULL; t = t->next)
			answer_unknown(l, t, e);
		return 0;
	}
	publish(l, &sealed.record);
	fill_receipts(l, &sealed);
	return 0;
}

/* Nothing to record; still, refusals and replays wait for the batch. */
static int
settle_empty(struct ledger *l)
{
	struct ticket *t = l->draft.tickets.first;

	db_rollback(l->db);
	for (; t != NULL; t = t->next)
		t->receipt->size = l->position.size;
	return 0;
}

int
attempt_batch(struct ledger *l, struct ticket *only, struct err *e)
{
	int rc;

	begin(l);
	rc = decide_all(l, only, e);
	if (signing_finish(&l->signing, rc ? NULL : e))
		rc = -1;
	if (rc == 0)
		rc = l->draft.n > 0 ? settle(l, e) : settle_empty(l);
	if (rc)
		db_rollback(l->db);
	return rc;
}
