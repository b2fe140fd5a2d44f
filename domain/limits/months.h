/*
 * The mapped file of each month, <state>/limits/YYYY-MM. A process keeps every
 * month that it met mapped, so nobody's counts go from under him.
 */
#ifndef DOMAIN_LIMITS_MONTHS_H
#define DOMAIN_LIMITS_MONTHS_H

#include "domain/limits.h"
#include "domain/limits/counters.h"
#include "ledger/base/instant.h"

/* "2026-11" and a NUL; its first moment, and that of the next. */
struct month {
	char name[8];
	struct instant begin, end;
};

struct month month_of(struct instant);

/* The month's table; `make` makes the file if it is not there. NULL, with an
 * error unless it is merely absent. A failure is reported again, and nothing
 * tried, for a minute. */
struct limit_table *limits_store_table(
    struct limits_store *, const struct month *, bool make, struct err *);

/* Syncs this month's file, and removes those before the last month's. */
int limits_store_keep(
    struct limits_store *, const struct month *, struct err *);

#endif
