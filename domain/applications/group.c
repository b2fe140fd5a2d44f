#include "domain/applications/group.h"

#include "domain/applications/events.h"
#include "domain/catalog.h"
#include "ledger/base/embed.h"

EMBED(applications_view_sql, "domain/applications/view.sql");

static const struct event_type *const types[] = {
	&event_application_created,
	&event_application_suspended,
	&event_application_resumed,
	&event_application_revoked,
	&event_credential_issued,
	&event_credential_rotated,
	&event_credential_revoked,
	NULL,
};

static const struct operation *const operations[] = {
	&op_application_create,
	&op_application_list,
	&op_application_show,
	&op_application_suspend,
	&op_application_resume,
	&op_application_revoke,
	&op_credential_issue,
	&op_credential_list,
	&op_credential_rotate,
	&op_credential_revoke,
	NULL,
};

static const struct view view = { types, applications_view_sql };

extern const struct group group_applications;
const struct group group_applications = {
	.name = "applications",
	.title = "Applications and credentials",
	.operations = operations,
	.view = &view,
};
