#include "domain/jobs/kinds.h"

#include "domain/catalog.h"

const struct job_kind *
job_kind_by_name(struct str name)
{
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct job_kind *const *kind = catalog_groups[i]->jobs;

		for (; kind && *kind; kind++)
			if (str_is(name, (*kind)->name))
				return *kind;
	}
	return NULL;
}

struct caller
worker_caller(const struct worker *w)
{
	return (struct caller){
		.kind = CALLER_WORKER,
		.place = w->place,
		.operator_name = w->name,
	};
}

struct context
worker_context(
    const struct worker *w, const struct caller *caller, struct arena *a)
{
	return (struct context){
		.service = w->service,
		.arena = a,
		.place = &caller->place,
		.caller = caller,
		.ledger = w->ledger,
		.now = service_now(w->service),
	};
}

static int
decide(struct tx *tx, void *arg, struct err *e)
{
	struct worker_decision *d = arg;

	d->c.tx = tx;
	d->c.db = tx_db(tx);
	d->c.now = tx_now(tx);
	return d->decide(&d->c, d->arg, e);
}

int
worker_submit(const struct worker *w, struct arena *a,
    struct worker_decision *d, struct receipt *receipt, struct err *e)
{
	struct caller caller = worker_caller(w);
	struct command command = {
		.decide = decide,
		.arg = d,
		.actor = { .kind = STR("worker"), .id = w->name },
		.arena = a,
	};

	d->c = worker_context(w, &caller, a);
	return ledger_submit(w->ledger, &command, receipt, e);
}
