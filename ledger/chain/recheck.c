#include "ledger/chain/recheck.h"

#include <stdio.h>
#include <stdlib.h>

#include "ledger/chain/signers.h"
#include "ledger/chain/verify_batch.h"

struct recheck {
	struct arena *keep, *result;
	struct buf signers;
	struct verify_scope scope;
	struct verify_bench bench;
};

struct recheck *
recheck_new(struct repo *repo, struct str origin, struct public_key key)
{
	struct recheck *r = calloc(1, sizeof *r);

	if (!r)
		abort();
	r->keep = arena_new();
	r->result = arena_new();
	buf_init(&r->signers, SIGNERS_MAX);
	buf_init(&r->bench.signers.bytes, SIGNERS_MAX);
	r->bench.repo = repo;
	r->bench.batch = arena_new();
	r->bench.payload = arena_new();
	r->scope.origin = arena_str(r->keep, origin);
	r->scope.key = key;
	r->scope.key_id = note_key_id(r->scope.origin, key);
	signers_first(&r->signers, r->scope.origin, key);
	r->scope.allowed_signers = buf_str(&r->signers);
	return r;
}

void
recheck_free(struct recheck *r)
{
	if (!r)
		return;
	buf_fini(&r->bench.signers.bytes);
	buf_fini(&r->signers);
	arena_free(r->bench.payload);
	arena_free(r->bench.batch);
	arena_free(r->result);
	arena_free(r->keep);
	free(r);
}

int
recheck_batch(
    struct recheck *r, struct oid commit, char why[RECHECK_WHY], struct err *e)
{
	struct batch_result result;

	arena_reset(r->result);
	if (verify_batch(&r->scope, &r->bench, commit, r->result, &result, e))
		return -1;
	if (!result.check)
		return 1;
	snprintf(why, RECHECK_WHY, "%s: %s", result.check, result.reason);
	return 0;
}
