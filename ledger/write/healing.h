/*
 * What the files of ledger_heal share.
 */
#ifndef LEDGER_WRITE_HEALING_H
#define LEDGER_WRITE_HEALING_H

#include "ledger/chain/verify.h"
#include "ledger/write/examine.h"
#include "ledger/write/heal.h"

/* Commits of a verified history, sorted. */
struct commit_set {
	struct oid *p;
	size_t n, room;
};

struct healing {
	const struct ledger_options *o;
	const struct heal_options *how;
	struct heal_report *report;
	struct storage s;  /* its repo: as readers see it */
	struct repo *repo; /* writable, and without the damaged packs */
	struct repo *mirror;
	struct commit_set mirrored;
	struct pack_names bad;
	struct oid tip; /* where the branch has to be */
	bool branch_bad;
	uint64_t floor;
};

/* heal_mirror.c: opens the mirror and proves it; fills mirrored. Until here the
 * batches may be unknown, where there is no read model. */
int heal_open_mirror(struct healing *, const char *from, struct err *);
bool heal_is_mirrored(const struct healing *, struct oid commit);

#endif
