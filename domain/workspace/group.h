#ifndef DOMAIN_WORKSPACE_GROUP_H
#define DOMAIN_WORKSPACE_GROUP_H

#include "domain/operation.h"

extern const struct operation op_workspace_create, op_workspace_list,
    op_workspace_show;

#endif
