#include "domain/oauth/group.h"

#include "domain/catalog.h"
#include "domain/oauth/events.h"
#include "ledger/base/embed.h"

EMBED(oauth_view_sql, "domain/oauth/view.sql");

const struct err_kind err_oauth_client = { "invalid_client",
	"The client is not known or its secret is wrong", 401, false,
	"Send client id and secret as they were shown." };
const struct err_kind err_oauth_unauthorized = { "unauthorized_client",
	"The client may not have a token now", 400, false,
	"Ask the workspace's operator about its application." };
const struct err_kind err_oauth_scope = { "invalid_scope",
	"None of the scopes can be granted", 400, false,
	"Ask for scopes that the client and its application have." };
const struct err_kind err_oauth_target = { "invalid_target",
	"The resource is not served here", 400, false,
	"Send a URL of this service, or leave it out." };

static const struct event_type *const types[] = {
	&event_oauth_client_created,
	&event_oauth_client_secret_rotated,
	&event_oauth_client_revoked,
	&event_access_token_issued,
	&event_access_token_revoked,
	NULL,
};

static const struct operation *const operations[] = {
	&op_oauth_client_create,
	&op_oauth_client_list,
	&op_oauth_client_rotate,
	&op_oauth_client_revoke,
	&op_access_token_list,
	&op_access_token_revoke,
	NULL,
};

static const struct view view = { types, oauth_view_sql };

extern const struct group group_oauth;
const struct group group_oauth = {
	.name = "oauth",
	.title = "OAuth clients and access tokens",
	.operations = operations,
	.view = &view,
};
