/*
 * One verification, shared by the files of verify_ledger. Its functions return
 * 0 to go on, 1 when the verdict is known (report->check and reason are set),
 * -1 when it could not be found out.
 */
#ifndef LEDGER_CHAIN_VERIFY_RUN_H
#define LEDGER_CHAIN_VERIFY_RUN_H

#include "ledger/chain/index_list.h"
#include "ledger/chain/verify.h"
#include "ledger/chain/verify_batch.h"

/* The commits to check, first to last, and the one before them. */
struct history {
	struct oid *commits;
	size_t n, room;
	bool has_anchor; /* the batch that from_seq trusts */
	struct oid anchor;
	uint64_t total; /* events, as the branch's commit says */
};

struct verification {
	const struct verify_options *options;
	struct verify_report *report;
	struct repo *repo;
	struct arena *a;       /* for the whole verification */
	struct arena *scratch; /* reset at will */
	struct history history;
	struct verify_scope scope;
	struct buf signers;

	/* Where the batches checked so far end. */
	struct merkle tree; /* stays empty with an anchor */
	struct instant at;
	bool closed;
	bool compared;            /* with the kept checkpoint */
	struct index_list *index; /* NULL with an anchor */
	bool indexed;             /* from here on every commit names its root */
};

/* Notes the first fault. Returns 1. */
__attribute__((format(printf, 4, 5))) int verify_fail(struct verification *,
    const char *check, uint64_t seq, const char *fmt, ...);

void verify_show_progress(struct verification *);

/* Fills the history from the branch's commit back. */
int verify_list(struct verification *, struct oid tip, struct err *);

/* Origin, key and signers: from event 0, or from the anchor. */
int verify_begin(struct verification *, struct err *);

/* The index after one more batch is what its commit says. */
int verify_index(struct verification *, const struct batch_result *);

/* Compares the root of the kept checkpoint's size with it. */
int verify_kept_root(struct verification *, struct digest root);

#endif
