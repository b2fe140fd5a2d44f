#ifndef DOMAIN_FINANCE_CORE_GROUP_H
#define DOMAIN_FINANCE_CORE_GROUP_H

#include "domain/operation.h"

extern const struct operation op_finance_core_show,
    op_finance_core_bank_statements;

#endif
