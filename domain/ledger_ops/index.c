/*
 * ledger.index: begins the index of a ledger that was made before there was
 * one. Newer ones have it from their second event on.
 */
#include "ledger/write/index.h"
#include "domain/ledger_ops/group.h"
#include "ledger/base/log.h"

static bool index_due(struct context *);
static int index_run(
    struct context *, const struct job *, const struct json **, struct err *);
static int index_settle(
    struct context *, const struct job *, const struct json *, struct err *);

const struct job_kind job_ledger_index = {
	.name = "ledger.index",
	.lease_s = 60,
	.attempts = 3,
	.run = index_run,
	.settle = index_settle,
	.due = index_due,
};

static bool
index_due(struct context *c)
{
	struct err e = { 0 };
	bool indexed = true;

	if (ledger_is_indexed(c->db, &indexed, &e))
		log_line(LOG_WARN, "worker",
		    "cannot tell whether the index was begun: %s", e.detail);
	return !indexed;
}

/* Its rows are there: the read model keeps them for every ledger. */
static int
index_run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	(void)job;
	(void)e;
	*result = json_object(c->arena);
	return 0;
}

static int
index_settle(struct context *c, const struct job *job,
    const struct json *result, struct err *e)
{
	(void)job;
	(void)result;
	return ledger_begin_index(c->tx, e);
}
