/*
 * The end of a ledger: `ledger.closed` is its last event and names the ledger
 * that continues it. Every later write is refused with err_ledger_closed;
 * reads go on.
 */
#ifndef LEDGER_WRITE_CLOSING_H
#define LEDGER_WRITE_CLOSING_H

#include "ledger/write/ledger.h"

/* Data of `ledger.closed`. */
struct ledger_closed {
	struct str reason;    /* or no value */
	struct str successor; /* origin of the ledger that continues it */
};
extern const struct shape ledger_closed_shape;
extern const struct event_type event_ledger_closed;

/* Appends the last event, in a batch of its own. err_invalid when the successor
 * is no origin, or this ledger's; err_ledger_closed when it is closed. */
int ledger_end(struct ledger *, const struct actor *,
    const struct ledger_closed *, struct err *);

/* How it was closed, as the tables have it: 1, 0 it is open, -1. */
int ledger_read_closed(
    struct db *, struct arena *, struct ledger_closed *, struct err *);

#endif
