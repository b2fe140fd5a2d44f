/*
 * What an export is about: a record, the events of its scope among the
 * ledger's first `size`, and what it was made from.
 *
 * A workspace's scope is every event. An action's are the events about it, its
 * source record with that one's import and statement, its arrangement,
 * counterparty and connector. A source record's are those about it, its import
 * and its statement. The same `size` gives the same scope for ever.
 */
#ifndef DOMAIN_LINEAGE_SCOPE_H
#define DOMAIN_LINEAGE_SCOPE_H

#include "domain/context.h"
#include "domain/source_records.h"

#define SCOPE_MATERIALS 2

struct scope {
	struct str type; /* workspace, action, source_record */
	struct uid uid;
	uint64_t size;             /* of the ledger, the checkpoint's */
	bool complete;             /* every event from 0 to size - 1 */
	const uint64_t *seqs;      /* rising; NULL when complete */
	uint64_t n;                /* events */
	struct digest_text digest; /* of the subject; no value: the root */
	/* Of a complete scope they are read from the tables. */
	struct source_material materials[SCOPE_MATERIALS];
	size_t n_materials;
};

/* The type is one of the three. 1 found, 0 no such record in this ledger, -1.
 * c->db and c->reading are set. */
int scope_find(struct context *, struct str type, struct str id, uint64_t size,
    struct scope *, struct err *);

/*
 * Visits the events in order. The reading is opened and closed again in
 * between, so that no snapshot stands for long; what a visit gets and
 * allocates, in c->arena, is gone after it. c->db and c->reading are set.
 */
typedef int scope_visit(
    struct context *, const struct stored_event *, void *arg, struct err *);
int scope_walk(struct context *, const struct scope *, scope_visit *, void *,
    struct err *);

#endif
