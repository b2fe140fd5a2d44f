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

	/* Places in commits whose trailer Ledger-Signers is another than that
	 * of the commit before; in order. */
	size_t *changes;
	size_t n_changes, room_changes;
	bool has_newer; /* while listing: the trailer of the one after */
	struct digest newer;
};

struct verification {
	const struct verify_options *options;
	struct verify_report *report;
	struct repo *repo;
	struct arena *a;       /* for the whole verification */
	struct arena *scratch; /* reset at will */
	struct history history;
	struct str origin;
	struct signers keys;         /* as they are at last */
	struct verify_scope *scopes; /* in the arena */
	size_t n_scopes;
	struct public_key key; /* that is pinned */
	bool pinned;           /* a batch by the pinned key was good */
	bool kept_unknown; /* no key known here signed the kept checkpoint; the
			      one that did has this id */
	uint32_t kept_key_id;

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

/* The pinned key: the first one given that v->keys name, or else the first one,
 * and false. */
bool verify_choose_key(struct verification *);

/* The scopes, one after the other, from v->keys as they are at first. */
int verify_plan_keys(struct verification *, struct err *);

/* Compares the root of the kept checkpoint's size with it. */
int verify_kept_root(struct verification *, struct digest root);

#endif
