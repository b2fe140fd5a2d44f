/*
 * The closed ledgers that the one under audit continues, newest first, each
 * verified whole and against the one after it.
 */
#ifndef LEDGER_AUDIT_OLDER_H
#define LEDGER_AUDIT_OLDER_H

#include <stdio.h>

#include "ledger/chain/continuity.h"

#define OLDER_MAX 16

struct older {
	const char *repo, *key; /* key NULL: the one of its event 0 */
	bool checked;
	struct verify_report report;
};

struct older_ledgers {
	struct older list[OLDER_MAX];
	size_t n;
};

/* The options --continues REPO and --old-key KEY, which follows its REPO. */
bool older_add(struct older_ledgers *, const char *repo);
bool older_set_key(struct older_ledgers *, const char *key);

/* Until one is bad. Thread count and quickness are those of the options. */
int older_verify(struct older_ledgers *, struct arena *,
    const struct verify_options *, const struct verify_report *newest,
    struct err *);

/* The bad one, or NULL. */
const struct older *older_bad(const struct older_ledgers *);

/* For people: what became of each, and what was not checked. */
void older_write(
    FILE *, const struct older_ledgers *, const struct verify_report *newest);

#endif
