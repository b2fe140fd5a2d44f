#ifndef DOMAIN_WORKSPACE_EVENTS_H
#define DOMAIN_WORKSPACE_EVENTS_H

#include "ledger/view/project.h"

struct workspace_created {
	struct str name, display_name, environment;
	struct str_list entitlements;
};

/* Entitlements were given to it, or taken from it. */
struct workspace_entitlements_set {
	struct str_list changed;      /* by this event */
	struct str_list entitlements; /* all that it has since */
	struct str reason;
};

extern const struct shape workspace_created_shape;
extern const struct event_type event_workspace_created,
    event_workspace_entitled, event_workspace_disentitled;

#endif
