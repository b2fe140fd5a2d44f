#ifndef DOMAIN_ACTIONS_GROUP_H
#define DOMAIN_ACTIONS_GROUP_H

#include "domain/operation.h"

extern const struct operation op_action_create_credit, op_action_control_state,
    op_action_assurance;

#endif
