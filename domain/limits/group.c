#include "domain/limits/group.h"

#include "domain/catalog.h"
#include "domain/limits/events.h"
#include "ledger/base/embed.h"

EMBED(limits_view_sql, "domain/limits/view.sql");

static const struct event_type *const types[] = {
	&event_application_limits_set,
	&event_credential_limits_set,
	&event_oauth_client_limits_set,
	NULL,
};

static const struct operation *const operations[] = {
	&op_application_set_limits,
	&op_credential_set_limits,
	&op_oauth_client_set_limits,
	&op_limits_show,
	&op_limits_list,
	NULL,
};

static const struct view view = { types, limits_view_sql };

extern const struct group group_limits;
const struct group group_limits = {
	.name = "limits",
	.title = "Request limits",
	.operations = operations,
	.view = &view,
};
