#ifndef DOMAIN_PARTIES_GROUP_H
#define DOMAIN_PARTIES_GROUP_H

#include "domain/operation.h"

extern const struct operation op_connector_add, op_connector_list,
    op_counterparty_add, op_counterparty_list, op_counterparty_show,
    op_counterparty_suspend, op_counterparty_reinstate, op_arrangement_add,
    op_arrangement_list;

#endif
