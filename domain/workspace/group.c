#include "domain/workspace/group.h"

#include "domain/catalog.h"
#include "domain/workspace/events.h"
#include "ledger/base/embed.h"

EMBED(workspace_view_sql, "domain/workspace/view.sql");

static const struct event_type *const types[] = {
	&event_workspace_created,
	&event_workspace_entitled,
	&event_workspace_disentitled,
	NULL,
};

static const struct operation *const operations[] = {
	&op_workspace_show,
	&op_workspace_create,
	&op_workspace_entitle,
	&op_workspace_disentitle,
	&op_workspace_list,
	NULL,
};

static const struct view view = { types, workspace_view_sql };

extern const struct group group_workspace;
const struct group group_workspace = {
	.name = "workspace",
	.title = "Workspace",
	.operations = operations,
	.view = &view,
};
