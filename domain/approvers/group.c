#include "domain/approvers/group.h"

#include "domain/approvers/events.h"
#include "domain/catalog.h"
#include "ledger/base/embed.h"

EMBED(approvers_view_sql, "domain/approvers/view.sql");

static const struct event_type *const types[] = {
	&event_approver_added,
	&event_approver_revoked,
	NULL,
};

static const struct operation *const operations[] = {
	&op_approver_add,
	&op_approver_list,
	&op_approver_revoke,
	NULL,
};

static const struct view view = { types, approvers_view_sql };

extern const struct group group_approvers;
const struct group group_approvers = {
	.name = "approvers",
	.title = "Approvers",
	.operations = operations,
	.view = &view,
};
