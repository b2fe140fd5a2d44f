/*
 * The index over all records (ledger/chain/index.h) in the read model: the rows
 * of its pages, brought up to date once a batch, in the batch's transaction.
 * Only the pages that a batch changed are read and hashed again.
 *
 * The rows are kept from event 0 on, announced or not: a ledger from before
 * the index has them by the time its read model was made anew, and the
 * announcing event costs what any other does.
 */
#ifndef LEDGER_WRITE_INDEX_ROWS_H
#define LEDGER_WRITE_INDEX_ROWS_H

#include "ledger/chain/batch.h"
#include "ledger/view/db.h"

/* Adds a batch's events, at most BATCH_EVENTS; *root is that of the index after
 * it. */
int index_rows_add(struct db *, const struct index_event *, size_t n,
    struct arena *, struct digest *root, struct err *);

/* Whether the commits have the trailer: ledger.indexed was projected. */
int index_is_announced(struct db *, bool *, struct err *);

/* What an event does to the index. */
struct index_event index_event_of(const struct event *);

#endif
