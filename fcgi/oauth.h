/*
 * OAuth 2.0 for clients that know nothing of Probity: token endpoint (RFC
 * 6749), introspection (RFC 7662), revocation (RFC 7009), and the metadata by
 * which all that is found (RFC 8414, RFC 9728). Errors have the form of RFC
 * 6749, 5.2, not that of problem details.
 */
#ifndef FCGI_OAUTH_H
#define FCGI_OAUTH_H

#include "domain/oauth.h"
#include "fcgi/form.h"
#include "fcgi/front_state.h"

/* Beside those of domain/oauth.h. */
extern const struct err_kind err_oauth_grant, /* unsupported_grant_type */
    err_oauth_response;                       /* unsupported_response_type */

/* Bytes of a form: scopes, a secret, a few URLs. */
#define OAUTH_FORM_MAX 16384

/* A request of a client that is known by its secret. */
struct oauth_visit {
	struct form form;
	struct oauth_client client;
	struct ledger *ledger;
	bool issues;    /* set before: it is to have a token issued */
	bool challenge; /* it used the Authorization header */
};

/*
 * Reads the form and authenticates the client, by HTTP Basic or by the form's
 * client_id and client_secret, never both; and counts one request of it.
 * err_malformed (invalid_request), err_rate, and what
 * oauth_client_authenticate and oauth_client_check refuse with. Every call is
 * paired with oauth_visit_end.
 */
int oauth_visit_begin(struct front *, struct request *, struct arena *,
    struct response *, struct oauth_visit *, struct err *);
void oauth_visit_end(struct front *, struct oauth_visit *);

/* Id and secret of HTTP Basic: base64, each form-encoded (RFC 6749, 2.3.1).
 * err_oauth_client. */
int oauth_read_basic(struct str authorization, struct arena *,
    struct str *client_id, struct str *secret, struct err *);

/* The error as RFC 6749 has it. */
void oauth_error_reply(
    const struct err *, bool challenge, struct arena *, struct response *);

int oauth_token_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int oauth_introspect_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int oauth_revoke_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
/* There is no user to ask: 400 unsupported_response_type. Some clients demand
 * that the metadata name such an endpoint. */
int oauth_authorize_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

int oauth_server_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
/* For each resource of protected_resources there is a page below
 * OAUTH_RESOURCE_WELL_KNOWN. */
int oauth_resource_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

#define OAUTH_SERVER_WELL_KNOWN   "/.well-known/oauth-authorization-server"
#define OAUTH_RESOURCE_WELL_KNOWN "/.well-known/oauth-protected-resource"

#endif
