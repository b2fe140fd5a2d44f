/*
 * What the service keeps to itself: the pool of open ledgers, and how a
 * configuration comes into force.
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
/* Puts a copy of the configuration in force. */
void service_put_config(struct service *, const struct config *);

/* config_copy.c: the strings too. */
struct config *config_copy(struct arena *, const struct config *);

#endif
