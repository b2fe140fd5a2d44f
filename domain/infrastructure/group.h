#ifndef DOMAIN_INFRASTRUCTURE_GROUP_H
#define DOMAIN_INFRASTRUCTURE_GROUP_H

#include "domain/operation.h"

extern const struct operation op_infrastructure_data_entitlements,
    op_infrastructure_posture;

#endif
