/*
 * What the events of this group say. Connectors, counterparties and
 * arrangements are active from the event on.
 */
#ifndef DOMAIN_PARTIES_EVENTS_H
#define DOMAIN_PARTIES_EVENTS_H

#include "ledger/view/project.h"

struct connector_added {
	int64_t id;
	struct str name, kind;
	struct str_list modes;
};

/* As ledgers before personal values were encrypted have it. */
struct counterparty_added {
	int64_t id;
	struct str name, account, lei;
};

struct counterparty_registered {
	int64_t id;
	const void *name, *account; /* struct sealed_text, one key */
	struct str lei;
};

struct arrangement_added {
	int64_t id, counterparty_id;
	struct str kind, currency;
	struct decimal limit; /* no value: none */
};

/* A counterparty that was suspended, or reinstated. */
struct counterparty_status_set {
	int64_t id;
	struct str reason;
};

extern const struct event_type event_connector_added, event_counterparty_added,
    event_counterparty_registered, event_counterparty_suspended,
    event_counterparty_reinstated, event_arrangement_added;

#endif
