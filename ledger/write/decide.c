#include <string.h>

#include "ledger/write/writer.h"

struct tx {
	struct ledger *ledger;
	struct ticket *ticket;
	struct instant now;
	bool full; /* an event found no room in the batch */
};

struct db *
tx_db(struct tx *tx)
{
	return tx->ledger->db;
}

void
tx_reading(struct tx *tx, struct reading *out)
{
	struct ledger *l = tx->ledger;

	*out = (struct reading){ .db = l->db, .repo = l->repo, .ledger = l };
}

struct instant
tx_now(const struct tx *tx)
{
	return tx->now;
}

struct uid
tx_uid(struct tx *tx)
{
	uint8_t random[10];

	tx_random(tx, random, sizeof random);
	return uid_from(tx->now, random);
}

/* Taken from the kernel in pieces for many commands; used bytes are gone. */
void
tx_random(struct tx *tx, void *out, size_t n)
{
	struct randomness *r = &tx->ledger->randomness;

	if (n > sizeof r->bytes) {
		random_bytes(out, n);
		return;
	}
	if (n > r->left) {
		random_bytes(r->bytes, sizeof r->bytes);
		r->left = sizeof r->bytes;
	}
	r->left -= n;
	memcpy(out, r->bytes + r->left, n);
	explicit_bzero(r->bytes + r->left, n);
}

struct arena *
tx_arena(struct tx *tx)
{
	return tx->ticket->command->arena;
}

static bool
has_room(const struct draft *d, size_t bytes)
{
	return d->n < BATCH_EVENTS && d->bytes + bytes <= BATCH_BYTES;
}

/* What the event's own shape refuses could never be projected again. */
static int
check_data(const struct event_type *type, const struct json *data,
    struct arena *a, struct err *e)
{
	struct err why = { 0 };

	if (shape_decode_json(type->data, data, a,
		arena_alloc(a, type->data->size), &why) == 0)
		return 0;
	return err_set(e, &err_internal, "%s does not fit its shape: %s",
	    type->name, why.detail);
}

int
tx_emit(struct tx *tx, const struct event_type *type, const char *subject_kind,
    struct uid subject, const void *data, const struct payload *payloads,
    size_t n_payloads, struct err *e)
{
	struct ledger *l = tx->ledger;
	const struct command *c = tx->ticket->command;
	struct draft *d = &l->draft;
	struct event ev = {
		.ledger = l->origin,
		.seq = d->after.size,
		.uid = tx_uid(tx),
		.at = tx->now,
		.type = str_from(type->name),
		.subject_kind = str_from(subject_kind),
		.subject = subject,
		.actor = c->actor,
		.request = c->request,
		.trace = c->trace,
		.idempotency = c->idempotency,
		.prev = d->after.head,
		.payloads = payloads,
		.n_payloads = n_payloads,
	};

	if (closing_check(l, type, &tx->full, e))
		return -1;
	ev.data = shape_encode(type->data, data, c->arena);
	if (check_data(type, ev.data, c->arena, e) ||
	    event_seal(c->arena, &ev, e))
		return -1;
	if (!has_room(d, ev.bytes.n)) {
		tx->full = true;
		return err_set(e, &err_too_large,
		    "one request may cause at most %d events of %u bytes in all",
		    BATCH_EVENTS, BATCH_BYTES);
	}
	if (ledger_project(l, &ev, data, type, e))
		return -1;
	position_advance(&d->after, &ev, data, type);
	d->events[d->n++] = ev;
	d->bytes += ev.bytes.n;
	tx->ticket->n++;
	return 0;
}

/* Whether the command may be decided at all now; its answer if not. */
static bool
may_write(const struct ledger *l, const struct command *c, struct err *why)
{
	const struct draft *d = &l->draft;

	if (d->no_mark.kind != NULL)
		*why = d->no_mark;
	else if (d->no_space.kind != NULL)
		*why = d->no_space;
	else if (d->no_clock.kind != NULL && !c->confirms_clock)
		*why = d->no_clock;
	else
		return true;
	return false;
}

static int
decide(struct ledger *l, struct ticket *t, struct tx *tx, struct err *why)
{
	if (t->command->decide == NULL)
		return 0;
	if (!may_write(l, t->command, why))
		return -1;
	return t->command->decide(tx, t->command->arg, why);
}

/* Takes the command's changes back, in the tables and in the draft. */
static int
take_back(struct ledger *l, const struct position *p, size_t n, size_t bytes,
    struct err *e)
{
	l->draft.after = *p;
	l->draft.n = n;
	l->draft.bytes = bytes;
	return db_savepoint_rollback(l->db, e);
}

/* The clock as this command sees it: never before the last event, nor before
 * the key in force. */
static struct instant
now_for(const struct ledger *l)
{
	struct instant now = l->clock->wall(l->clock), floor = keys_floor(l);

	if (floor.us < l->draft.after.last_at.us)
		floor = l->draft.after.last_at;
	return now.us < floor.us ? floor : now;
}

static bool
is_fault(const struct ledger *l, const struct err *why)
{
	const struct draft *d = &l->draft;

	return why->kind == NULL ||
	       (why->kind->status >= 500 && why->kind != d->no_space.kind &&
		   why->kind != d->no_clock.kind &&
		   why->kind != d->no_mark.kind);
}

int
decide_ticket(struct ledger *l, struct ticket *t, struct err *e)
{
	struct draft *d = &l->draft;
	const struct position before = d->after;
	const size_t n = d->n, bytes = d->bytes;
	struct tx tx = { .ledger = l, .ticket = t, .now = now_for(l) };
	struct err why = { 0 };

	t->first = n;
	t->n = 0;
	t->result = 0;
	if (db_savepoint(l->db, e))
		return -1;
	if (decide(l, t, &tx, &why) == 0)
		return db_savepoint_release(l->db, e) ? -1 : 1;
	t->n = 0;
	if (!db_in_transaction(l->db))
		return err_set(e, &err_unavailable,
		    "the read model gave up its transaction: %s", why.detail);
	if (take_back(l, &before, n, bytes, e))
		return -1;
	if (tx.full && n > 0)
		return 0;
	if (is_fault(l, &why))
		return err_set(
		    e, why.kind ? why.kind : &err_internal, "%s", why.detail);
	t->result = -1;
	if (t->err)
		*t->err = why;
	return 1;
}
