/*
 * Webhooks: events of a ledger, told to the endpoints that its applications
 * registered. A group whose events go out offers them from its projecting
 * function, in one line:
 *
 *	return webhook_offer(db, ev, "financial_action.created",
 *	    d->application, e);
 *
 * That makes a delivery for each active registration of the application that
 * wants the name; the worker sends it. Without such a registration it is one
 * look into an index.
 */
#ifndef DOMAIN_WEBHOOKS_H
#define DOMAIN_WEBHOOKS_H

#include "ledger/chain/event.h"
#include "ledger/view/db.h"

/* The name is one of webhook_names; the event's subject is the record that
 * the delivery is about. */
int webhook_offer(struct db *, const struct event *, const char *name,
    struct uid application, struct err *);

#endif
