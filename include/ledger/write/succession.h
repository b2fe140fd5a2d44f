/*
 * A ledger closed and continued by another one in the same place
 * (docs/decisions/0011).
 *
 *	<dir>               in use: the ledger, and then its successor
 *	<dir>.closed/<n>    closed ones, whole, counted from 1
 *	<dir>.successor     the successor while it is made
 *
 * and the same for the keys. The successor is made whole before anything is
 * moved. Between the moves nothing lies at <dir>: then the ledger is between,
 * and neither opened nor made there. Every step looks first whether it was
 * done, so the same call again finishes what a crash left.
 */
#ifndef LEDGER_WRITE_SUCCESSION_H
#define LEDGER_WRITE_SUCCESSION_H

#include "ledger/chain/signers.h"
#include "ledger/write/closing.h"

struct succession {
	const struct ledger_options *place; /* its origin is not used */
	struct actor actor;
	struct ledger_closed closing;
	/* Reads from the closed ledger what the successor begins with; may be
	 * NULL. */
	int (*read)(void *arg, struct reading *, struct err *);
	/* Records it in the successor; emits nothing when it is there. May be
	 * NULL. */
	int (*begin)(struct tx *, void *arg, struct err *);
	void *arg;
};

struct succession_report {
	struct continued closed;
	char origin[201]; /* the successor's */
	struct public_key key;
	unsigned generation; /* <dir>.closed/<generation> */
};

/*
 * err_invalid for an origin that cannot be the successor's; err_conflict when
 * the ledger was closed for another one, or another closing is at work;
 * err_not_found without a ledger. A ledger that continues another one and has
 * the origin asked for already is a success: it was done before.
 */
int ledger_succeed(
    const struct succession *, struct succession_report *, struct err *);

/* err_unavailable while a closed ledger has left the place and its successor
 * has not come to it. */
int succession_check(const char *dir, struct err *);

#endif
