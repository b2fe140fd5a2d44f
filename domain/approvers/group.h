#ifndef DOMAIN_APPROVERS_GROUP_H
#define DOMAIN_APPROVERS_GROUP_H

#include "domain/content.h"
#include "domain/operation.h"

extern const struct operation op_approver_add, op_approver_revoke,
    op_approver_list;

/* As lists and replies show it. */
struct approver_record {
	int64_t id;
	struct uid uid;
	struct str name, public_key, fingerprint, status;
	struct str_list roles;
	struct instant added_at, changed_at, erased_at;
	struct opt_int erased_by_event;
};
extern const struct shape approver_record_shape;

/* What the replies tell of a key besides the line. */
struct str approver_fingerprint(struct arena *, struct str public_key);

#endif
