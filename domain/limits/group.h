#ifndef DOMAIN_LIMITS_GROUP_H
#define DOMAIN_LIMITS_GROUP_H

#include "domain/limits.h"
#include "domain/limits/counters.h"
#include "domain/operation.h"

extern const struct operation op_application_set_limits,
    op_credential_set_limits, op_oauth_client_set_limits, op_limits_show,
    op_limits_list;

/* With what is not set taken from the configuration, or from what
 * limit_of_application gave for the credential's application. */
struct limit limit_of_application(const struct config *, struct limit set);
struct limit limit_of_credential(struct limit set, struct limit application);
bool limit_is_set(struct limit);

struct limit_key limit_key_of_application(const struct place *, struct uid);
struct limit_key limit_key_of_credential(
    const struct place *, struct str public_id);

#endif
