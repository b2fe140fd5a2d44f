#include "domain/finance_core/group.h"

#include "domain/catalog.h"

static const struct operation *const operations[] = {
	&op_finance_core_show,
	&op_finance_core_bank_statements,
	NULL,
};

extern const struct group group_finance_core;
const struct group group_finance_core = {
	.name = "finance_core",
	.title = "Finance Core",
	.operations = operations,
};
