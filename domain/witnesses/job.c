/*
 * The job that has checkpoints cosigned. Each time all witnesses are asked
 * about the same checkpoint, so that one comes to have enough of them: the
 * newest one, or, when nothing happened since but our own events, the one that
 * others have cosigned already.
 */
#include <pthread.h>

#include "domain/witnesses/group.h"
#include "ledger/base/log.h"

#define MINUTE_US  INT64_C(60000000)
#define FAULT_TEXT 300
/* Where nothing else happens, one that stays away is asked less often: each
 * round leaves events of its own. */
#define CATCH_UP 6

static bool due(struct context *);
static int run(
    struct context *, const struct job *, const struct json **, struct err *);
static int settle(
    struct context *, const struct job *, const struct json *, struct err *);

/* Without a reading: it would be held while a witness is waited for. */
const struct job_kind job_ledger_witness = {
	.name = "ledger.witness",
	.lease_s = 120,
	.attempts = 3,
	.run = run,
	.settle = settle,
	.due = due,
	.no_reading = true,
	.remote = true,
};

struct witness_fault {
	struct str witness, fault;
};
struct round {
	int64_t size;
	struct list cosignatures, faults;
};

/* clang-format off */
SHAPE(witness_fault, "A witness that did not cosign",
	FIELD(witness_fault, witness, .max = WITNESS_NAME_MAX, .doc = "Its name"),
	FIELD(witness_fault, fault, .max = FAULT_TEXT, .doc = "Why"));
SHAPE(round, "What the witnesses answered",
	FIELD(round, size, .doc = "Events that the checkpoint covers"),
	FIELD(round, cosignatures, .of = &cosignature_shape, .max = WITNESSES_MAX, .doc = "Those that were given"),
	FIELD(round, faults, .of = &witness_fault_shape, .max = WITNESSES_MAX, .doc = "The other witnesses"));
/* clang-format on */

/* The size to have cosigned; whether there is news is asked of the tables. */
static int
choose_size(struct context *c, uint64_t *size, bool *news, struct err *e)
{
	return witness_last_size(c->db, NULL, size, e) ||
	       witness_has_news(c, *size, news, e);
}

static int
is_anyone_behind(struct context *c, const struct witness_list *list,
    uint64_t size, bool *out, struct err *e)
{
	uint64_t last;

	*out = false;
	for (size_t i = 0; i < list->n && !*out; i++) {
		if (witness_last_size(c->db, &list->items[i], &last, e))
			return -1;
		*out = last < size;
	}
	return 0;
}

/* Since the last round began; before the first, ever so long. */
static int
time_since_round(struct context *c, int64_t *us, struct err *e)
{
	int64_t began;

	if (db_get_int(c->db, &began, 0, e,
		"SELECT max(queued_at) FROM job WHERE kind = 'ledger.witness'",
		""))
		return -1;
	*us = c->now.us - began;
	return 0;
}

static int
is_due(struct context *c, bool *out, struct err *e)
{
	int64_t wait_us =
	    service_config(c->service)->witness_minutes * MINUTE_US;
	struct witness_list list;
	int64_t since_us;
	uint64_t size;

	*out = false;
	if (witness_list_read(c->service, c->arena, &list, e))
		return -1;
	if (list.n == 0)
		return 0;
	if (time_since_round(c, &since_us, e))
		return -1;
	if (since_us < wait_us)
		return 0;
	if (choose_size(c, &size, out, e))
		return -1;
	if (*out || since_us < wait_us * CATCH_UP)
		return 0;
	return is_anyone_behind(c, &list, size, out, e);
}

static bool
due(struct context *c)
{
	struct err e = { 0 };
	bool wanted;

	if (is_due(c, &wanted, &e))
		log_line(LOG_WARN, "worker", "witnesses: %s", e.detail);
	return wanted;
}

/* The checkpoint, and a visit for each witness that has not cosigned it. */
static int
plan(struct context *c, const struct witness_list *list, struct visit *visits,
    size_t *n, struct err *e)
{
	struct str checkpoint;
	uint64_t size, last;
	bool news;

	if (choose_size(c, &size, &news, e))
		return -1;
	if (news)
		size = 0;
	if (ledger_read_checkpoint(c->reading, &size, c->arena, &checkpoint, e))
		return -1;
	for (size_t i = 0; i < list->n; i++) {
		if (witness_last_size(c->db, &list->items[i], &last, e))
			return -1;
		if (last >= size)
			continue;
		visits[(*n)++] = (struct visit){
			.witness = &list->items[i],
			.ledger = c->ledger,
			.last = last,
			.size = size,
			.checkpoint = checkpoint,
		};
	}
	return 0;
}

/* plan, with a reading of its own that ends before anybody is asked. */
static int
plan_now(struct context *c, const struct witness_list *list,
    struct visit *visits, size_t *n, struct err *e)
{
	struct reading reading;
	int failed;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	c->reading = &reading;
	c->db = reading.db;
	failed = plan(c, list, visits, n, e);
	c->reading = NULL;
	c->db = NULL;
	ledger_read_end(&reading);
	return failed;
}

static void *
visit_thread(void *arg)
{
	visit_make(arg);
	return NULL;
}

/* All at once. Without a thread a visit is made here. */
static void
make_visits(struct visit *visits, size_t n)
{
	pthread_t threads[WITNESSES_MAX];
	bool started[WITNESSES_MAX];

	for (size_t i = 0; i < n; i++) {
		visits[i].arena = arena_new();
		started[i] = !pthread_create(
		    &threads[i], NULL, visit_thread, &visits[i]);
		if (!started[i])
			visit_make(&visits[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}

static struct cosignature
answer_of(struct arena *a, const struct visit *v)
{
	struct cosignature answer = v->answer;

	answer.witness = arena_str(a, answer.witness);
	answer.key_id = arena_str(a, answer.key_id);
	answer.line = arena_str(a, answer.line);
	return answer;
}

/* Takes what the visits brought out of their arenas, which end. */
static struct round
gather(struct arena *a, struct visit *visits, size_t n)
{
	struct cosignature *good = arena_array(a, n + 1, sizeof *good);
	struct witness_fault *bad = arena_array(a, n + 1, sizeof *bad);
	struct round round = { .cosignatures = { good, 0 },
		.faults = { bad, 0 } };

	for (size_t i = 0; i < n; i++) {
		struct visit *v = &visits[i];

		round.size = (int64_t)v->size;
		if (v->fault.kind)
			bad[round.faults.n++] = (struct witness_fault){
				v->witness->key.name,
				arena_strf(
				    a, "%.*s", FAULT_TEXT, v->fault.detail),
			};
		else
			good[round.cosignatures.n++] = answer_of(a, v);
		arena_free(v->arena);
	}
	return round;
}

/* A round in which nobody cosigned is a failed attempt; of any other the
 * faults are told and recorded, and the next round asks again. */
static int
judge(struct context *c, const struct round *round, struct err *e)
{
	const struct witness_fault *faults = round->faults.items;

	for (size_t i = 0; i < round->faults.n; i++)
		log_line(LOG_WARN, "worker", "%.*s: witness: %.*s",
		    STR_ARGS(ledger_origin(c->ledger)),
		    STR_ARGS(faults[i].fault));
	if (round->cosignatures.n == 0 && round->faults.n > 0)
		return err_set(e, &err_unavailable, "no witness cosigned: %.*s",
		    STR_ARGS(faults[0].fault));
	return 0;
}

static int
run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	struct visit *visits =
	    arena_array(c->arena, WITNESSES_MAX, sizeof *visits);
	struct round *round = ARENA_NEW(c->arena, struct round);
	struct witness_list list;
	size_t n = 0;

	(void)job;
	if (witness_list_read(c->service, c->arena, &list, e) ||
	    plan_now(c, &list, visits, &n, e))
		return -1;
	make_visits(visits, n);
	*round = gather(c->arena, visits, n);
	if (judge(c, round, e))
		return -1;
	*result = shape_encode(&round_shape, round, c->arena);
	return 0;
}

static int
settle(struct context *c, const struct job *job, const struct json *result,
    struct err *e)
{
	const struct cosignature *items;
	struct round round;

	if (shape_decode_json(&round_shape, result, c->arena, &round, e))
		return -1;
	items = round.cosignatures.items;
	for (size_t i = 0; i < round.cosignatures.n; i++)
		if (context_emit(c, &event_checkpoint_cosigned, "ledger",
			job->uid, &items[i], e))
			return -1;
	return 0;
}
