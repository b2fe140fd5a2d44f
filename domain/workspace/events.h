#ifndef DOMAIN_WORKSPACE_EVENTS_H
#define DOMAIN_WORKSPACE_EVENTS_H

#include "ledger/view/project.h"

struct workspace_created {
	struct str name, display_name, environment;
	struct str_list entitlements;
};

extern const struct shape workspace_created_shape;
extern const struct event_type event_workspace_created;

#endif
