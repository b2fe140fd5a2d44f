/*
 * The events of a scope, one after the other, batch by batch, in memory that
 * does not grow with their number.
 */
#include "domain/lineage/scope.h"

/* Events between two snapshots. */
#define STEP 256

struct walk {
	const struct scope *scope;
	scope_visit *visit;
	void *arg;
	struct context c; /* with a scratch arena */
};

static uint64_t
seq_at(const struct scope *s, uint64_t i)
{
	return s->complete ? i : s->seqs[i];
}

/* Those of the batch that holds event i, from there on up to `end`. */
static int
visit_batch(struct walk *w, uint64_t *i, uint64_t end, struct err *e)
{
	uint64_t first = seq_at(w->scope, *i), next = *i + 1;
	struct stored_event *events;
	struct batch_place at;
	size_t n;

	if (ledger_read_batch_place(w->c.reading, first, &at, e))
		return -1;
	while (next < end && seq_at(w->scope, next) - at.first < at.count)
		next++;
	n = (size_t)(seq_at(w->scope, next - 1) - first) + 1;
	events = arena_array(w->c.arena, n, sizeof *events);
	if (ledger_read_events(w->c.reading, first, n, w->c.arena, events, e))
		return -1;
	for (; *i < next; ++*i)
		if (w->visit(&w->c, &events[seq_at(w->scope, *i) - first],
			w->arg, e))
			return -1;
	return 0;
}

static int
visit_step(struct walk *w, uint64_t *i, struct err *e)
{
	uint64_t end = w->scope->n - *i < STEP ? w->scope->n : *i + STEP;
	struct reading reading;
	int rc = 0;

	if (ledger_read_begin(w->c.ledger, &reading, e))
		return -1;
	w->c.reading = &reading;
	w->c.db = reading.db;
	while (rc == 0 && *i < end) {
		arena_reset(w->c.arena);
		rc = visit_batch(w, i, end, e);
	}
	ledger_read_end(&reading);
	w->c.reading = NULL;
	w->c.db = NULL;
	return rc;
}

int
scope_walk(struct context *c, const struct scope *scope, scope_visit *visit,
    void *arg, struct err *e)
{
	struct walk w = { scope, visit, arg, *c };
	int rc = 0;

	w.c.arena = arena_new();
	for (uint64_t i = 0; rc == 0 && i < scope->n;)
		rc = visit_step(&w, &i, e);
	arena_free(w.c.arena);
	return rc;
}
