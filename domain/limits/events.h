#ifndef DOMAIN_LIMITS_EVENTS_H
#define DOMAIN_LIMITS_EVENTS_H

#include "ledger/view/project.h"

/* Of an application, a key or an OAuth client; a member without a value is not
 * limited by itself. */
struct limits_set {
	struct opt_int requests_per_second, burst, monthly;
	struct str reason;
};

extern const struct event_type event_application_limits_set,
    event_credential_limits_set, event_oauth_client_limits_set;

#endif
