#ifndef DOMAIN_WORKSPACE_GROUP_H
#define DOMAIN_WORKSPACE_GROUP_H

#include "domain/operation.h"

extern const struct operation op_workspace_create, op_workspace_list,
    op_workspace_show, op_workspace_entitle, op_workspace_disentitle;

/* For words_check; there is no argument. */
bool workspace_knows_entitlement(const void *unused, struct str key);

/* Every key of the catalog, in its order. */
struct str_list workspace_all_entitlements(struct arena *);

#endif
