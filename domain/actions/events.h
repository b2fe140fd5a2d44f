#ifndef DOMAIN_ACTIONS_EVENTS_H
#define DOMAIN_ACTIONS_EVENTS_H

#include "domain/actions/envelope.h"
#include "ledger/view/project.h"

/* Everything else about the action is in its envelope. */
struct action_created {
	int64_t id;
	const void *envelope; /* struct envelope */
	struct digest_text envelope_hash;
};

extern const struct event_type event_action_created;

#endif
