/*
 * Copies the branch of one repository into another, beside writers and packing:
 * what the copy lacks becomes packs in it, oldest first. An interrupted copy is
 * a shorter one, and the next goes on from there.
 */
#ifndef LEDGER_STORE_COPY_H
#define LEDGER_STORE_COPY_H

#include "ledger/store/repo.h"

struct copy_progress {
	/* Called now and then with the commits copied and to be copied. */
	void (*call)(void *, uint64_t done, uint64_t total);
	void *arg;
};

/*
 * `to` is one that repo_create made. Each pack is on the disk before the copy's
 * branch is moved to it. err_rolled_back when the branch of `from` does not
 * continue that of `to`; err_no_space.
 */
int repo_copy_branch(struct repo *from, struct repo *to,
    const struct copy_progress *, uint64_t *commits, struct err *);

#endif
