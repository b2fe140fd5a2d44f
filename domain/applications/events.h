#ifndef DOMAIN_APPLICATIONS_EVENTS_H
#define DOMAIN_APPLICATIONS_EVENTS_H

#include "ledger/view/project.h"

struct application_created {
	struct str name, responsible;
	struct str_list scopes, entitlements;
};

/* Suspended, resumed, revoked: of applications and of credentials. */
struct status_changed {
	struct str reason;
};

struct credential_issued {
	struct uid application;
	struct str public_id;
	struct digest_text sha256;
	struct str label;
	struct str_list scopes;
};

struct credential_rotated {
	struct str previous_public_id, public_id;
	struct digest_text sha256;
};

extern const struct event_type event_application_created,
    event_application_suspended, event_application_resumed,
    event_application_revoked, event_credential_issued,
    event_credential_rotated, event_credential_revoked;

#endif
