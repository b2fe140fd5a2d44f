/*
 * The part of deciding an import that looks things up: counterparties and
 * arrangements that rows name, and records and statements that are there
 * already. Every fault is named.
 */
#ifndef DOMAIN_SOURCE_RECORDS_RESOLVE_H
#define DOMAIN_SOURCE_RECORDS_RESOLVE_H

#include "domain/source_records/plan.h"
#include "ledger/write/ledger.h"

struct context;

/* Fills what a draft refers to, its seal and its uid. err_invalid. */
int resolve_records(struct context *, struct plan *, struct err *);

/* Refuses statements that are there already, and warns of gaps between a
 * statement and the one before it. */
int resolve_statements(struct context *, const struct plan *,
    struct str_list *warnings, struct err *);

#endif
