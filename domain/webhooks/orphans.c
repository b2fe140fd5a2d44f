/*
 * The job that revokes the webhooks of applications that were revoked. That is
 * for ever, so what was still to be sent never is; and nothing more is to queue
 * up for them.
 */
#include "domain/webhooks/group.h"
#include "ledger/base/log.h"

#define AT_ONCE 100 /* more are found by the next one */

static bool due(struct context *);
static int run(
    struct context *, const struct job *, const struct json **, struct err *);
static int settle(
    struct context *, const struct job *, const struct json *, struct err *);

const struct job_kind job_webhook_revoke = {
	.name = "webhook.revoke",
	.lease_s = 60,
	.attempts = 3,
	.run = run,
	.settle = settle,
	.due = due,
};

static int
find(struct context *c, struct uid uids[AT_ONCE], size_t *n, struct err *e)
{
	struct rows r;

	*n = 0;
	if (db_query(c->db, &r, e,
		"SELECT w.uid FROM webhook w"
		" JOIN application a ON a.uid = w.application"
		" WHERE w.status <> 'revoked' AND a.status = 'revoked'"
		" ORDER BY w.id LIMIT ?",
		"i", (int64_t)AT_ONCE))
		return -1;
	while (*n < AT_ONCE && rows_next(&r, e) == 1)
		uids[(*n)++] = rows_uid(&r, 0);
	return rows_end(&r, e);
}

static bool
due(struct context *c)
{
	struct uid uids[AT_ONCE];
	struct err e = { 0 };
	size_t n;

	if (find(c, uids, &n, &e))
		log_line(LOG_WARN, "worker", "webhooks: %s", e.detail);
	return n > 0;
}

/* There is nothing to do but to decide. */
static int
run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	(void)job;
	(void)e;
	*result = json_object(c->arena);
	return 0;
}

static int
settle(struct context *c, const struct job *job, const struct json *result,
    struct err *e)
{
	struct webhook_changed data = { STR("the application was revoked") };
	struct uid uids[AT_ONCE];
	size_t n;

	(void)job;
	(void)result;
	if (find(c, uids, &n, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (context_emit(c, &event_webhook_revoked, "webhook", uids[i],
			&data, e))
			return -1;
	return 0;
}
