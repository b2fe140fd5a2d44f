#ifndef DOMAIN_OAUTH_EVENTS_H
#define DOMAIN_OAUTH_EVENTS_H

#include "ledger/view/project.h"

struct oauth_client_created {
	struct uid application;
	struct str client_id;
	struct digest_text sha256;
	struct str label;
	struct str_list scopes;
};

struct oauth_client_secret_rotated {
	struct digest_text sha256;
	int64_t tokens_revoked;
};

struct oauth_client_revoked {
	struct str reason;
	int64_t tokens_revoked;
};

struct access_token_issued {
	struct uid client;
	struct str public_id;
	struct digest_text sha256;
	struct str_list scopes, audience;
	struct instant expires_at;
};

struct access_token_revoked {
	struct str reason;
};

extern const struct event_type event_oauth_client_created,
    event_oauth_client_secret_rotated, event_oauth_client_revoked,
    event_access_token_issued, event_access_token_revoked;

#endif
