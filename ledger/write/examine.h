/*
 * Going over everything that one batch is made of: commit, tree, entries and
 * payloads, each read and held to its id, then all of it together.
 */
#ifndef LEDGER_WRITE_EXAMINE_H
#define LEDGER_WRITE_EXAMINE_H

#include "ledger/write/storage.h"

/* An object that is not as it should be. */
struct wanting {
	struct damage damage;
	struct oid oid, commit;
	enum object_kind kind;
	size_t max;
	struct inspection seen;
};

struct examination {
	struct repo *repo;
	const struct meter *meter;
	struct recheck *recheck; /* NULL: objects only */
	/* Told of each; when it has mended it, 1 and its bytes in the arena,
	 * so that what hangs on it is gone over too. Else 0, or -1. */
	int (*wanting)(void *, const struct wanting *, struct arena *,
	    struct str *bytes, struct err *);
	void *arg;
	bool nobody_packs; /* by packs_lock: nothing moves meanwhile */
	uint64_t objects;

	/* The batch at hand. */
	struct arena *a;
	const struct batch_ref *batch;
	bool faulty;
	/* The allowed_signers last looked at: hardly ever another. */
	bool has_signers, signers_whole;
	struct oid signers;
};

int examine_batch(struct examination *, const struct batch_ref *, struct err *);

#endif
