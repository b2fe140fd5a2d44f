/*
 * The index over all records, as readers see it: the pages that show which
 * records there are, with the commit whose signature covers them.
 *
 *	index_range_of_record(&range, kind, uid, e);
 *	ledger_read_index(reading, &range, arena, &proof, e);
 */
#ifndef LEDGER_WRITE_INDEX_H
#define LEDGER_WRITE_INDEX_H

#include "ledger/write/ledger.h"

/* Data of `ledger.indexed`. */
struct ledger_indexed {
	struct str format; /* INDEX_FORMAT */
};
extern const struct event_type event_ledger_indexed;

/* Announces the index, unless it was announced before: from this batch on the
 * commits name its root. Call while deciding. */
int ledger_begin_index(struct tx *, struct err *);

/* Whether it was announced. */
int ledger_is_indexed(struct db *, bool *, struct err *);

struct index_proof {
	uint64_t size;           /* of the ledger whose index it is */
	const struct str *pages; /* for index_proof_check */
	size_t n;
	struct str commit;     /* the object, whose trailer has the root */
	struct str checkpoint; /* its signed note */
};

/* At the reading's position. err_conflict when the index was not announced yet.
 * A range has as many pages as a list's page has records, so the caller bounds
 * it. */
int ledger_read_index(struct reading *, const struct index_range *,
    struct arena *, struct index_proof *, struct err *);

/* The first `max` records of a range, by rising keys. */
struct index_record {
	struct uid uid;
	int64_t events;
	struct digest chain;
};
int ledger_read_records(struct reading *, const struct index_range *,
    size_t max, struct arena *, struct index_record **, size_t *n,
    struct err *);

#endif
