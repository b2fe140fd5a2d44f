#ifndef DOMAIN_APPROVERS_EVENTS_H
#define DOMAIN_APPROVERS_EVENTS_H

#include "ledger/view/project.h"

struct approver_added {
	int64_t id;
	const void *name;      /* struct sealed_text */
	struct str public_key; /* an OpenSSH line without a comment */
	struct str_list roles;
};

struct approver_revoked {
	int64_t id;
	struct str reason;
};

extern const struct event_type event_approver_added, event_approver_revoked;

#endif
