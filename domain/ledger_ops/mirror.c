/*
 * The worker's part of mirrors: which there are, by `mirror_file`, and one
 * result for all of a ledger's.
 */
#include "domain/mirror.h"

#include <string.h>

#include "domain/ledger_ops/group.h"
#include "ledger/base/io.h"

#define FILE_MAX    ((size_t)1 << 20)
#define MIRRORS_MAX 8

#define REST_S 60 /* for what is not pushing */

static bool mirror_due(struct context *);
static int64_t mirror_lease(const struct context *);
static int mirror_run(
    struct context *, const struct job *, const struct json **, struct err *);

/* One attempt: the next comes by the schedule. */
const struct job_kind job_ledger_mirror = {
	.name = "ledger.mirror",
	.lease = mirror_lease,
	.attempts = 1,
	.run = mirror_run,
	.due = mirror_due,
	.no_reading = true,
	.remote = true,
};

/* As long as all pushes may take, and hardly longer: until then a worker that
 * was lost keeps the ledger from its mirrors. */
static int64_t
mirror_lease(const struct context *c)
{
	return MIRRORS_MAX * service_config(c->service)->mirror_seconds +
	       REST_S;
}

struct mirrors {
	struct str to[MIRRORS_MAX];
	size_t n;
};

static int
add(struct mirrors *m, struct str to, int number, struct err *e)
{
	struct err cause = { 0 };

	if (mirror_check(to, &cause))
		return err_set(e, &err_invalid, "line %d of mirror_file: %s",
		    number, cause.detail);
	if (m->n == MIRRORS_MAX)
		return err_set(e, &err_invalid,
		    "line %d of mirror_file: a ledger has at most %d mirrors",
		    number, MIRRORS_MAX);
	m->to[m->n++] = to;
	return 0;
}

/* Lines `<workspace>/<environment> <path or URL>`; of other ledgers' lines
 * nothing is asked, so that a fault there is theirs alone. */
static int
read_mirrors(
    struct str text, const char *name, struct mirrors *m, struct err *e)
{
	for (int number = 1; text.p; number++) {
		struct str to = str_take(&text, '\n');
		struct str ledger = str_take(&to, ' ');

		if (!str_is(ledger, name))
			continue;
		if (!to.p)
			to = STR("");
		if (add(m, to, number, e))
			return -1;
	}
	return 0;
}

static int
find_mirrors(struct context *c, struct mirrors *m, struct err *e)
{
	struct str file = service_config(c->service)->mirror_file;
	const char *name = arena_printf(c->arena, "%.*s/%.*s",
	    STR_ARGS(c->place->workspace), STR_ARGS(c->place->environment));
	struct str text;

	*m = (struct mirrors){ 0 };
	if (file.n == 0)
		return 0;
	if (io_read_file(
		c->arena, arena_cstr(c->arena, file), FILE_MAX, &text, e))
		return -1;
	return read_mirrors(text, name, m, e);
}

/* A list with a fault is due as well: the job's failure tells of it. */
static bool
mirror_due(struct context *c)
{
	struct err e = { 0 };
	struct mirrors m;

	return ledger_job_is_due(c, job_ledger_mirror.name,
		   service_config(c->service)->mirror_minutes) &&
	       (find_mirrors(c, &m, &e) || m.n > 0);
}

static void
put_push(struct arena *a, struct json *v, const struct mirror_push *done)
{
	char commit[OID_HEX + 1];

	oid_hex(done->commit, commit);
	json_put_int(a, v, "size", (int64_t)done->size);
	json_put_str(a, v, "commit", arena_str(a, str_from(commit)));
}

/* Each is tried, whatever became of the others; the first fault is told, with
 * the mirror's number in the list: its name may be nobody else's business. */
static int
mirror_run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	struct json *v = json_object(c->arena);
	struct mirror_push done = { 0 };
	struct mirrors m;

	(void)job;
	if (find_mirrors(c, &m, e))
		return -1;
	for (size_t i = 0; i < m.n; i++) {
		struct err cause = { 0 };

		if (mirror_push(
			c->service, c->place, m.to[i], c->arena, &done, &cause))
			err_set(e, cause.kind, "mirror %zu of %zu: %s", i + 1,
			    m.n, cause.detail);
	}
	if (e->kind)
		return -1;
	json_put_int(c->arena, v, "mirrors", (int64_t)m.n);
	if (m.n > 0)
		put_push(c->arena, v, &done);
	*result = v;
	return 0;
}
