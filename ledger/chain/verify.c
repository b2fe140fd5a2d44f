#include "ledger/chain/verify.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger/chain/signers.h"
#include "ledger/chain/verify_pool.h"
#include "ledger/chain/verify_run.h"

int
verify_fail(struct verification *v, const char *check, uint64_t seq,
    const char *fmt, ...)
{
	struct verify_report *r = v->report;
	va_list ap;

	r->failed_seq = seq;
	snprintf(r->check, sizeof r->check, "%s", check);
	va_start(ap, fmt);
	vsnprintf(r->reason, sizeof r->reason, fmt, ap);
	va_end(ap);
	return 1;
}

void
verify_show_progress(struct verification *v)
{
	if (v->options->progress)
		v->options->progress(v->options->progress_arg,
		    v->report->events, v->history.total);
}

/* What ties a batch to those before it. */
static int
check_link(struct verification *v, const struct batch_result *b)
{
	uint64_t seq = v->report->size;

	if (v->closed)
		return verify_fail(
		    v, CHECK_CHAIN, seq, "an event follows ledger.closed");
	if (b->first_seq != seq)
		return verify_fail(v, CHECK_CHAIN, seq,
		    "seq is %llu where %llu belongs",
		    (unsigned long long)b->first_seq, (unsigned long long)seq);
	if (!digest_eq(b->first_prev, v->report->head))
		return verify_fail(v, CHECK_CHAIN, seq,
		    "prev is not the hash of the event before");
	if (b->first_at.us < v->at.us)
		return verify_fail(v, CHECK_CHAIN, seq,
		    "at is earlier than that of the event before");
	return 0;
}

static int
check_tree(struct verification *v, const struct batch_result *b)
{
	uint64_t kept = v->options->has_kept ? v->options->kept.size : 0;

	if (v->history.has_anchor)
		return kept && kept == v->report->size + b->n
			   ? verify_kept_root(v, b->root)
			   : 0;
	for (size_t i = 0; i < b->n; i++) {
		merkle_append(&v->tree, b->leaves[i]);
		if (kept && v->tree.size == kept &&
		    verify_kept_root(v, merkle_root(&v->tree)))
			return 1;
	}
	if (!digest_eq(merkle_root(&v->tree), b->root))
		return verify_fail(v, CHECK_CHECKPOINT, v->report->size,
		    "the checkpoint's root is not that of the events");
	return 0;
}

/* Whether the pinned key stands behind what was checked so far. */
static void
note_key(struct verification *v)
{
	const struct verify_scopes scopes = { v->scopes, v->n_scopes };
	const struct verify_scope *s =
	    verify_scope_of(&scopes, v->report->batches);

	if (public_key_eq(s->key, v->key))
		v->pinned = true;
}

static int
take_batch(struct verification *v, const struct batch_result *b)
{
	struct verify_report *r = v->report;
	int rc;

	/* A batch that cannot be read has no link to check; in one that can,
	 * its place in the chain comes first. */
	if (b->any && (rc = check_link(v, b)))
		return rc;
	if (b->check)
		return verify_fail(
		    v, b->check, r->size + b->index, "%.250s", b->reason);
	rc = check_tree(v, b);
	if (!rc)
		rc = verify_index(v, b);
	if (rc)
		return rc;
	note_key(v);
	r->events += b->n;
	r->batches++;
	r->payloads += b->payloads;
	r->size += b->n;
	r->root = b->root;
	r->head = b->head;
	r->commit = b->commit;
	snprintf(r->checkpoint, sizeof r->checkpoint, "%.*s",
	    STR_ARGS(b->checkpoint));
	v->at = b->last_at;
	v->closed = r->closed = b->closed;
	return 0;
}

static unsigned
count_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

static int
check_batches(struct verification *v, struct err *e)
{
	unsigned threads = v->options->threads;
	const struct batch_result *b;
	struct verify_pool *pool;
	int rc, verdict = 0;

	pool = verify_pool_new(repo_path(v->repo),
	    (struct verify_scopes){ v->scopes, v->n_scopes },
	    v->history.commits, v->history.n,
	    threads ? threads : count_cores());
	while (!verdict && (rc = verify_pool_next(pool, &b, e)) != 0) {
		if (rc < 0)
			verdict = -1;
		else if (rc == 1)
			verdict = take_batch(v, b);
		else
			verify_show_progress(v);
	}
	verify_pool_free(pool);
	return verdict;
}

/* A history from before a change of the key does not know the key after it. */
static int
cut_short(struct verification *v)
{
	unsigned long long size = v->report->size, kept = v->options->kept.size;

	if (v->kept_unknown)
		return verify_fail(v, CHECK_CONSISTENCY, size,
		    "the kept checkpoint of %llu events is signed by key id "
		    "%08x, unknown to this history of %llu: that was cut short "
		    "before the key came in force, or the checkpoint is not "
		    "this ledger's",
		    kept, v->kept_key_id, size);
	return verify_fail(v, CHECK_CONSISTENCY, size,
	    "the history was cut short: it has %llu events, the kept "
	    "checkpoint %llu",
	    size, kept);
}

/* Once everything else is good. */
static int
check_kept_size(struct verification *v, struct err *e)
{
	const struct checkpoint *kept = &v->options->kept;

	if (v->options->from_seq > v->report->size)
		return verify_fail(v, CHECK_CONSISTENCY, v->report->size,
		    "the history was cut short: it ends at %llu events",
		    (unsigned long long)v->report->size);
	if (!v->options->has_kept)
		return 0;
	if (kept->size > v->report->size)
		return cut_short(v);
	if (kept->size == 0)
		return verify_kept_root(v, sha256(STR("")));
	if (!v->compared)
		return err_set(e, &err_usage,
		    "the kept checkpoint ends within a batch: verify from the "
		    "beginning to compare it");
	return 0;
}

static int
check_pinned(struct verification *v)
{
	if (v->pinned || v->history.n == 0 || v->options->key_may_be_new)
		return 0;
	return verify_fail(v, CHECK_SIGNERS, v->report->size - 1,
	    "the key given is named here but has signed nothing: verify with "
	    "an earlier key");
}

static int
verify(struct verification *v, struct err *e)
{
	bool exists;
	struct oid tip;
	struct err why = { 0 };
	int rc;

	if (repo_branch(v->repo, &tip, &exists, &why)) {
		if (why.kind != &err_corrupt)
			return err_set(e, why.kind, "%s", why.detail);
		return verify_fail(
		    v, CHECK_REPOSITORY, 0, "%.250s", why.detail);
	}
	v->report->empty = !exists;
	v->report->root = sha256(STR(""));
	if (!exists)
		return check_kept_size(v, e);
	rc = verify_list(v, tip, e);
	if (!rc)
		rc = verify_begin(v, e);
	if (!rc)
		rc = check_batches(v, e);
	if (!rc)
		rc = check_pinned(v);
	v->report->keys = v->keys;
	v->report->keys.origin = STR_NONE;
	return rc ? rc : check_kept_size(v, e);
}

static double
now(void)
{
	return (double)clock_system.steady(&clock_system).us / 1e6;
}

int
verify_ledger(const char *path, const struct verify_options *options,
    struct verify_report *report, struct err *e)
{
	struct verification v = {
		.options = options, .report = report, .key = options->key
	};
	double start = now();
	int rc;

	*report = (struct verify_report){ 0 };
	if (repo_open_for_reading(path, &v.repo, e))
		return -1;
	v.a = arena_new();
	v.scratch = arena_new();
	rc = verify(&v, e);
	report->good = rc == 0;
	report->seconds = now() - start;
	verify_show_progress(&v);
	arena_free(v.a);
	arena_free(v.scratch);
	free(v.history.commits);
	index_list_free(v.index);
	free(v.history.changes);
	repo_close(v.repo);
	return rc < 0 ? -1 : 0;
}
