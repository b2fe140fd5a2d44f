/*
 * The write path of a call: who may not gets told so before the input is
 * judged; what needs no tables is done before the turn; the decision is made
 * in its place in the batch, where the caller is checked once more.
 */
#include "domain/content.h"
#include "domain/running.h"

#include <inttypes.h>

/* A refused credential must not learn whether its body was valid. What
 * authentication read a moment ago will do: the decision asks again. */
static int
authorize_early(struct running *r, struct err *e)
{
	struct reading reading;
	int result;

	if (r->call->caller->kind != CALLER_APPLICATION)
		return 0;
	if (r->call->caller->found)
		return call_authorize_found(
		    r->call->caller->found, r->call->caller, r->c.op, e);
	if (!r->c.ledger)
		return running_authorize(r, NULL, e);
	if (ledger_read_begin(r->c.ledger, &reading, e))
		return -1;
	result = running_authorize(r, reading.db, e);
	ledger_read_end(&reading);
	return result;
}

/* RFC 9110, 13.2.1: a write that would be refused anyway is refused for that,
 * so what was expected is judged first and counts last. */
static int
decide_as_expected(struct running *r, struct err *e)
{
	struct err verdict;

	if (expectation_judge(r, &verdict, e) ||
	    r->c.op->decide(&r->c, r->in, e))
		return -1;
	if (verdict.kind)
		*e = verdict;
	return verdict.kind ? -1 : 0;
}

static int
decide(struct tx *tx, void *arg, struct err *e)
{
	struct running *r = arg;
	struct context *c = &r->c;
	int found;

	/* It may run again after a batch that did not happen. */
	c->tx = tx;
	c->db = tx_db(tx);
	c->now = tx_now(tx);
	c->secret = STR_NONE;
	c->answered = false;
	r->replayed = false;
	if (running_authorize(r, c->db, e))
		return -1;
	found = idempotency_find(r, c->db, e);
	if (found != 0)
		return found < 0 ? -1 : 0;
	if (r->unprepared)
		return err_set(e, &err_unavailable,
		    "the answer to this key was there a moment ago");
	return decide_as_expected(r, e);
}

struct actor
running_actor(struct arena *a, const struct caller *caller)
{
	struct actor actor = { .id = caller->operator_name };
	char text[UID_TEXT + 1];

	switch (caller->kind) {
	case CALLER_APPLICATION:
		uid_format(caller->application, text);
		actor.kind = STR("application");
		actor.id = arena_str(a, str_from(text));
		actor.credential = caller->credential;
		break;
	case CALLER_OPERATOR:
		actor.kind = STR("operator");
		break;
	case CALLER_WORKER:
		actor.kind = STR("worker");
		break;
	}
	return actor;
}

static int
submit(struct running *r, struct err *e)
{
	struct command command = {
		.decide = decide,
		.arg = r,
		.actor = running_actor(r->c.arena, r->call->caller),
		.request = r->call->request,
		.trace = r->call->trace,
		.idempotency = r->idempotency,
		.arena = r->c.arena,
		.confirms_clock = r->c.op->confirms_clock,
	};
	int result = ledger_submit(r->c.ledger, &command, &r->receipt, e);

	r->c.tx = NULL;
	r->c.db = NULL;
	return result;
}

/* The events that answer, read back: a replay, or a decision that found its
 * work done. */
static int
read_proof(struct running *r, struct proof *proof, struct err *e)
{
	size_t n = (size_t)(r->last_seq - r->first_seq) + 1;
	struct recorded *all =
	    arena_array(r->c.arena, n, sizeof(struct recorded));

	for (size_t i = 0; i < n; i++) {
		struct stored_event stored;

		if (ledger_read_event(
			r->c.reading, r->first_seq + i, r->c.arena, &stored, e))
			return -1;
		all[i] = stored.recorded;
		proof->commit = stored.commit;
		proof->checkpoint = stored.checkpoint;
	}
	proof->recorded = all;
	proof->n = n;
	return 0;
}

static int
find_proof(struct running *r, struct proof *proof, struct err *e)
{
	if (r->receipt.n > 0) {
		*proof = (struct proof){ r->receipt.events, r->receipt.n,
			r->receipt.commit, r->receipt.checkpoint };
		return 0;
	}
	if (r->c.answered)
		r->first_seq = r->last_seq = r->c.answer_seq;
	else if (!r->replayed) {
		err_set(e, &err_internal, "%s decided without an event",
		    r->c.op->id);
		return -1;
	}
	return read_proof(r, proof, e);
}

static int
render(struct running *r, struct reply *out, struct err *e)
{
	const struct operation *op = r->c.op;
	void *record = arena_alloc(r->c.arena, op->out->size);
	struct proof proof = { 0 };

	if (find_proof(r, &proof, e) ||
	    op->reply(&r->c, &proof.recorded[0].event, record, e))
		return -1;
	out->body = shape_encode(op->out, record, r->c.arena);
	evidence_put(r->c.arena, out->body, &proof);
	running_say_beside(r, out);
	out->replayed = r->replayed;
	out->ledger_size = r->receipt.size;
	return 0;
}

static int
answer(struct running *r, struct reply *out, struct err *e)
{
	struct reading reading;
	int result;

	if (r->receipt.n > 0 && r->c.op->reply_is_pure)
		return render(r, out, e);
	if (ledger_read_begin(r->c.ledger, &reading, e))
		return -1;
	r->c.reading = &reading;
	r->c.db = reading.db;
	result = render(r, out, e);
	ledger_read_end(&reading);
	r->c.reading = NULL;
	r->c.db = NULL;
	return result;
}

/* What was recorded is never answered as a refusal: the client is told the
 * event by which it can look. */
static int
recorded_unanswered(struct running *r, struct err *e)
{
	const struct recorded *last = &r->receipt.events[r->receipt.n - 1];
	struct arena *a = r->c.arena;
	struct json *extension = json_object(a);
	struct err cause = *e;
	char hash[DIGEST_HEX + 1];

	digest_hex(last->hash, hash);
	json_put_str(a, extension, "event_hash", arena_str(a, str_from(hash)));
	json_put_int(a, extension, "seq", (int64_t)last->seq);
	err_clear(e);
	err_set(e, &err_outcome_unknown,
	    "event %" PRIu64 " was recorded, its reply could not be made: %s",
	    last->seq, cause.detail);
	e->extension = extension;
	return -1;
}

/* Whether the key has its answer already. The turn gives it, and is asked
 * again; but nothing is prepared for it: that costs something, and may be
 * refused by now for what lies outside the ledger. */
static bool
was_answered(struct running *r)
{
	struct reading reading;
	struct err mismatch = { 0 };
	int found;

	if (!r->idempotency.set ||
	    ledger_read_begin(r->c.ledger, &reading, NULL))
		return false;
	found = idempotency_find(r, reading.db, &mismatch);
	ledger_read_end(&reading);
	return found == 1 || mismatch.kind == &err_idempotency;
}

static int
prepare(struct running *r, struct err *e)
{
	const struct operation *op = r->c.op;

	if (!op->prepare)
		return 0;
	r->unprepared = was_answered(r);
	return r->unprepared ? 0 : op->prepare(&r->c, r->in, e);
}

static int
write_in(struct running *r, struct reply *out, struct err *e)
{
	const struct operation *op = r->c.op;

	if (authorize_early(r, e) || running_decode(r, e) ||
	    idempotency_fingerprints(r, e) || prepare(r, e))
		return -1;
	if (!r->c.ledger)
		return err_set(e, &err_internal, "%s made no ledger", op->id);
	/* Once more where the ledger, and with it the key, came only now. */
	if (idempotency_fingerprints(r, e) || submit(r, e))
		return -1;
	if (answer(r, out, e) == 0)
		return 0;
	return r->receipt.n > 0 ? recorded_unanswered(r, e) : -1;
}

static void
say_recorded(const struct running *r, struct reply *out)
{
	if (r->receipt.n == 0)
		return;
	out->first_seq = r->receipt.events[0].seq;
	out->last_seq = r->receipt.events[r->receipt.n - 1].seq;
}

int
running_write(struct running *r, struct reply *out, struct err *e)
{
	int result = write_in(r, out, e);

	say_recorded(r, out);
	if (r->receipt.n == 0 && (!e || e->kind != &err_outcome_unknown))
		content_abandon(&r->c);
	/* The row's prepare acquired it. */
	if (r->c.ledger && !r->call->ledger)
		service_release(r->c.service, r->c.ledger);
	return result;
}
