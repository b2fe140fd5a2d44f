#ifndef DOMAIN_OAUTH_GROUP_H
#define DOMAIN_OAUTH_GROUP_H

#include "domain/oauth.h"
#include "domain/operation.h"

extern const struct operation op_oauth_client_create, op_oauth_client_rotate,
    op_oauth_client_revoke, op_oauth_client_list, op_access_token_list,
    op_access_token_revoke;

/* By its client id. 1 found, 0 not in this ledger, -1. */
int oauth_client_find(struct db *, struct str client_id, struct arena *,
    struct oauth_client *, struct err *);

/* What the client may have of what it asked for; err_oauth_scope when that is
 * nothing. */
int token_scopes(struct arena *, const struct credential *client,
    struct str asked, struct str_list *out, struct err *);

/* Those asked for, or the whole API; err_oauth_target. */
int token_audience(struct arena *, struct str base_url, struct str_list asked,
    struct str_list *out, struct err *);

/* Tokens of the client that are in force now. */
int access_token_count(
    struct context *, struct uid client, int64_t *out, struct err *);

#endif
