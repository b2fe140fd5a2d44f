/*
 * How long an operation is promised: its stability, and its announced end. A
 * row that is to go says .deprecated and .sunset, at least a year apart; the
 * replies' header fields, the OpenAPI document and the change ledger say it.
 */
#ifndef DOMAIN_LIFECYCLE_H
#define DOMAIN_LIFECYCLE_H

#include "domain/catalog.h"

const char *lifecycle_stability(const struct operation *); /* "Stable" */

/* "Published", or "Deprecated". */
const char *lifecycle_stage(const struct operation *);

/* Midnight UTC of YYYY-MM-DD; false for what is no date. */
bool lifecycle_date(const char *date, struct instant *out);

/* The path that takes the row's place, with these parameters of the path in
 * it; no value: none does, or one is missing. */
struct str lifecycle_successor(
    struct arena *, const struct operation *, const struct param *, size_t n);

/* x-product, x-stability, x-lifecycle, x-since, and the end where there is one:
 * the members of the row's entry in the OpenAPI document. */
void lifecycle_describe(
    struct arena *, const struct operation *, struct json *entry);

/* Writes a line for each fault: dates that are none or too close, an end
 * without its announcement, a successor that is no row. */
void lifecycle_check(const struct operation *,
    const struct group *const *groups, struct buf *faults);

/*
 * The change ledger: a row for each operation with a route, and whether the
 * scope that the OpenAPI document publishes is the catalog's; and the totals.
 */
struct json *lifecycle_changes(struct arena *,
    const struct group *const *groups, const struct json *document);

#endif
