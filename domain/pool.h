/*
 * What the service keeps to itself: the pool of open ledgers.
 */
#ifndef DOMAIN_POOL_H
#define DOMAIN_POOL_H

#include "domain/service.h"

/*
 * Any ledger that is open, acquired; NULL when none is. A credential of an
 * unknown workspace is looked up there in vain, so that it costs what a known
 * one costs.
 */
struct ledger *service_acquire_decoy(struct service *);

/* Where requests are counted. */
struct limits_store *service_limits(struct service *);

/* CLOCK_BOOTTIME, by the service's clock. */
struct instant service_steady(const struct service *);

/* How many ledgers are open. */
size_t service_open_count(struct service *);

#endif
