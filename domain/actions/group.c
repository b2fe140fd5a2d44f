#include "domain/actions/group.h"

#include "domain/actions/events.h"
#include "domain/catalog.h"
#include "ledger/base/embed.h"

EMBED(actions_view_sql, "domain/actions/view.sql");

static const struct event_type *const types[] = {
	&event_action_created,
	NULL,
};

static const struct operation *const operations[] = {
	&op_action_create_credit,
	&op_action_control_state,
	&op_action_assurance,
	NULL,
};

static const struct view view = { types, actions_view_sql };

extern const struct group group_actions;
const struct group group_actions = {
	.name = "actions",
	.title = "Financial Actions",
	.operations = operations,
	.view = &view,
};
