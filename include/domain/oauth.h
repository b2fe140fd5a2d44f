/*
 * OAuth 2.0 client credentials (RFC 6749, 4.4): clients of applications, and
 * the access tokens issued to them. Tokens are opaque and short-lived; each is
 * an event, and what is kept of it is its SHA-256.
 *
 * In text, as API keys are (domain/applications.h):
 *
 *	pbyc_test_acme_4Fz0aQ7x		client id, which stays
 *	pbys_test_acme_9bK2mW1c_<43><6>	client secret, replaced by rotation
 *	pbyt_test_acme_Zz81hQpL_<43><6>	access token
 *
 * A token is in force until it expires or is revoked, its client is revoked or
 * gets another secret; and as a key, only while its application is active.
 *
 * Refusals are kinds whose slug is the `error` of RFC 6749, 5.2, and whose
 * status is the reply's; they are no problem types.
 */
#ifndef DOMAIN_OAUTH_H
#define DOMAIN_OAUTH_H

#include "domain/applications.h"
#include "domain/service.h"

#define TOKEN_RESOURCES_MAX 8

extern const struct err_kind err_oauth_client, /* invalid_client */
    err_oauth_unauthorized,                    /* unauthorized_client */
    err_oauth_scope,                           /* invalid_scope */
    err_oauth_target;                          /* invalid_target */

/* The credential's public id is the client id, its sha256 the secret's. */
struct oauth_client {
	struct uid uid;
	struct place place; /* by oauth_client_authenticate */
	struct credential credential;
};

/*
 * Who sent this client id and secret, with the ledger of its place acquired
 * (release it by service_release). err_oauth_client for everything but a client
 * that is in force; what is not there costs the same as a wrong secret.
 */
int oauth_client_authenticate(struct service *, struct str client_id,
    struct str secret, struct arena *, struct oauth_client *, struct ledger **,
    struct err *);

/* Whether it may have tokens issued: err_oauth_unauthorized when its
 * application is not active, and while production is closed. It may end those
 * that it has, and ask about them, all the same. */
int oauth_client_check(const struct oauth_client *, struct err *);

/* The credential's public id is the client id, its sha256 the token's, and its
 * status what it is but for its time: active or revoked. */
struct access_token {
	struct uid uid, client;
	struct credential credential;
	struct str_list audience;
	struct instant issued_at;
};

/* By its public id. 1 found, 0 not in this ledger, -1. */
int access_token_find(struct db *, struct str public_id, struct arena *,
    struct access_token *, struct err *);

/* Whether it is in force at this moment; says nothing of its application. */
bool access_token_is_active(const struct access_token *, struct instant now);

/* What a client asks for, and who asks. */
struct token_request {
	const struct oauth_client *client;
	struct str scope;         /* as sent; no value: all it may have */
	struct str_list resource; /* RFC 8707; none: the whole API */
	struct uid request;
};

struct token_grant {
	struct str token; /* shown this once */
	struct str scope;
	int64_t expires_in_s;
	uint64_t seq; /* of its event */
};

/*
 * Issues a token: an event, durable when this returns. Its scopes are those
 * that were asked for, the client and its application have, and the
 * entitlements of application and workspace leave open: err_oauth_scope when
 * there is none. err_oauth_target for a resource that is not ours; what
 * oauth_client_check refuses with.
 */
int access_token_issue(struct service *, struct ledger *,
    const struct token_request *, struct arena *, struct token_grant *,
    struct err *);

/* The token of this text, if it is one of this client's application and good
 * for anything now: 1, and 0 for any other. Writes nothing. */
int access_token_introspect(struct service *, struct ledger *,
    const struct oauth_client *, struct str text, struct arena *,
    struct access_token *, struct err *);

/* Ends the client's own token of this text; does nothing for any other. *seq is
 * that of the event, 0 where there was none to be. */
int access_token_surrender(struct service *, struct ledger *,
    const struct oauth_client *, struct str text, struct uid request,
    struct arena *, uint64_t *seq, struct err *);

/* The issuer identifier of RFC 8414, and with it the whole API's URL. */
struct str oauth_issuer(struct arena *, struct str base_url);

#endif
