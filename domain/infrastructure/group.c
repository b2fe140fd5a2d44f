/*
 * What a workspace may know of the service that it is on. Reads alone.
 */
#include "domain/infrastructure/group.h"

#include "domain/catalog.h"

static const struct operation *const operations[] = {
	&op_infrastructure_data_entitlements,
	&op_infrastructure_posture,
	NULL,
};

extern const struct group group_infrastructure;
const struct group group_infrastructure = {
	.name = "infrastructure",
	.title = "Infrastructure",
	.operations = operations,
};
