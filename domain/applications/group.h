#ifndef DOMAIN_APPLICATIONS_GROUP_H
#define DOMAIN_APPLICATIONS_GROUP_H

#include "domain/operation.h"

extern const struct operation op_application_create, op_application_suspend,
    op_application_resume, op_application_revoke, op_application_list,
    op_application_show, op_credential_issue, op_credential_rotate,
    op_credential_revoke, op_credential_list;

/* One application or credential of this ledger, with the reason of a change. */
struct change_request {
	struct uid uid;
	struct str reason;
};
extern const struct shape change_request_shape;

/* What a change of status came to. */
struct status_reply {
	int64_t id;
	struct uid uid;
	struct str status, reason;
	struct instant changed_at;
};
extern const struct shape status_reply_shape;

#endif
