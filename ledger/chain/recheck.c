#include "ledger/chain/recheck.h"

#include <stdio.h>
#include <stdlib.h>

#include "ledger/chain/event_scan.h"
#include "ledger/chain/verify_batch.h"

struct recheck {
	struct arena *keep, *result;
	struct signers keys;
	struct verify_scope scope;
	struct verify_bench bench;
};

struct recheck *
recheck_new(struct repo *repo, struct str origin, const struct signers *keys)
{
	struct recheck *r = calloc(1, sizeof *r);

	if (!r)
		abort();
	r->keep = arena_new();
	r->result = arena_new();
	buf_init(&r->bench.signers.bytes, SIGNERS_MAX);
	r->bench.repo = repo;
	r->bench.batch = arena_new();
	r->bench.payload = arena_new();
	r->scope.origin = arena_str(r->keep, origin);
	r->keys = *keys;
	return r;
}

void
recheck_free(struct recheck *r)
{
	if (!r)
		return;
	buf_fini(&r->bench.signers.bytes);
	arena_free(r->bench.payload);
	arena_free(r->bench.batch);
	arena_free(r->result);
	arena_free(r->keep);
	free(r);
}

/* The ledger's key whose id the event's signature has. */
static bool
find_key(struct recheck *r, const struct batch_line *line)
{
	struct signature ignored;

	for (size_t i = 0; i < r->keys.n; i++) {
		r->scope.key = r->keys.keys[i].key;
		r->scope.key_id = note_key_id(r->scope.origin, r->scope.key);
		if (batch_line_signature(line, r->scope.key_id, &ignored))
			return true;
	}
	return false;
}

/* Which key signed the batch, and whether it changes the keys. What
 * allowed_signers has to be follows from the batches before: here it is bound
 * by the commit's signature. */
static int
find_scope(struct recheck *r, struct oid commit, struct err *e)
{
	struct event_scan scan;
	struct batch_line line;
	struct batch b;

	if (batch_read(r->bench.repo, commit, r->result, &b, e))
		return -1;
	r->scope.allowed_signers = b.allowed_signers;
	if (batch_line_next(&b.events, &line, e) <= 0 || !find_key(r, &line))
		return err_set(e, &err_corrupt,
		    "event: its first event is signed by none of the ledger's"
		    " keys");
	while (batch_line_next(&b.events, &line, NULL) > 0)
		;
	r->scope.changes_keys = event_scan(line.event, &scan, NULL) == 0 &&
				signers_change(scan.type);
	return 0;
}

int
recheck_batch(
    struct recheck *r, struct oid commit, char why[RECHECK_WHY], struct err *e)
{
	struct batch_result result;
	struct err fault = { 0 };

	arena_reset(r->result);
	if (find_scope(r, commit, &fault)) {
		snprintf(why, RECHECK_WHY, "%.270s", fault.detail);
		if (fault.kind == &err_corrupt)
			return 0;
		return err_set(e, fault.kind, "%s", fault.detail);
	}
	if (verify_batch(&r->scope, &r->bench, commit, r->result, &result, e))
		return -1;
	if (!result.check)
		return 1;
	snprintf(why, RECHECK_WHY, "%s: %s", result.check, result.reason);
	return 0;
}
