#include "domain/oauth/events.h"

#include "domain/applications.h"
#include "domain/words.h"

/* clang-format off */
SHAPE(oauth_client_created, "An OAuth client was created; its secret's hash is kept, never the secret",
	FIELD(oauth_client_created, application, .required = true, .doc = "The application that owns it"),
	FIELD(oauth_client_created, client_id, .required = true, .max = 64, .doc = "The name it authenticates by"),
	FIELD(oauth_client_created, sha256, .required = true, .doc = "SHA-256 of the whole secret"),
	FIELD(oauth_client_created, label, .max = 120, .doc = "What it is for"),
	FIELD(oauth_client_created, scopes, .max = 100, .doc = "Scopes its tokens may carry"));
SHAPE(oauth_client_secret_rotated, "A client got another secret; the previous one and every token issued under it ended",
	FIELD(oauth_client_secret_rotated, sha256, .required = true, .doc = "SHA-256 of the whole new secret"),
	FIELD(oauth_client_secret_rotated, tokens_revoked, .doc = "How many tokens were in force until then"));
SHAPE(oauth_client_revoked, "A client was revoked, and with it every token of it",
	FIELD(oauth_client_revoked, reason, .max = 280, .doc = "Why"),
	FIELD(oauth_client_revoked, tokens_revoked, .doc = "How many tokens were in force until then"));
SHAPE(access_token_issued, "An access token was issued; its hash is kept, never the token",
	FIELD(access_token_issued, client, .required = true, .doc = "The OAuth client that asked for it"),
	FIELD(access_token_issued, public_id, .required = true, .max = 64, .doc = "The part of the token that is no secret"),
	FIELD(access_token_issued, sha256, .required = true, .doc = "SHA-256 of the whole token"),
	FIELD(access_token_issued, scopes, .max = 100, .doc = "Scopes it carries"),
	FIELD(access_token_issued, audience, .max = 8, .doc = "Resources it was asked for"),
	FIELD(access_token_issued, expires_at, .required = true, .doc = "From when it is refused"));
SHAPE(access_token_revoked, "An access token was revoked",
	FIELD(access_token_revoked, reason, .max = 280, .doc = "Why; null when its own client revoked it"));
/* clang-format on */

EVENT_TYPE(oauth_client_created, "oauth_client.created", oauth_client_created,
    "An OAuth client was created");
EVENT_TYPE(oauth_client_secret_rotated, "oauth_client.secret_rotated",
    oauth_client_secret_rotated,
    "An OAuth client's secret was replaced, and its tokens ended");
EVENT_TYPE(oauth_client_revoked, "oauth_client.revoked", oauth_client_revoked,
    "An OAuth client and its tokens are refused for ever");
EVENT_TYPE(access_token_issued, "access_token.issued", access_token_issued,
    "An access token was issued to an OAuth client");
EVENT_TYPE(access_token_revoked, "access_token.revoked", access_token_revoked,
    "An access token is refused for ever");

static int
project_oauth_client_created(struct db *db, const struct event *ev,
    const struct oauth_client_created *d, struct err *e)
{
	struct arena *a;
	struct digest hash;
	int result;

	if (credential_hash(d->sha256, &hash, e))
		return -1;
	a = arena_new();
	result = db_run(db, e,
	    "INSERT INTO oauth_client (uid, application, client_id, sha256,"
	    " secret_number, label, scopes, status, created_at, changed_at)"
	    " VALUES (?, ?, ?, ?, 1, ?, ?, 'active', ?, ?)",
	    "uusdsstt", ev->subject, d->application, d->client_id, hash,
	    d->label, words_join(a, d->scopes), ev->at, ev->at);
	arena_free(a);
	return result;
}

static int
project_oauth_client_secret_rotated(struct db *db, const struct event *ev,
    const struct oauth_client_secret_rotated *d, struct err *e)
{
	struct digest hash;

	if (credential_hash(d->sha256, &hash, e))
		return -1;
	return db_run(db, e,
	    "UPDATE oauth_client SET sha256 = ?, changed_at = ?,"
	    " secret_number = secret_number + 1 WHERE uid = ?",
	    "dtu", hash, ev->at, ev->subject);
}

static int
project_oauth_client_revoked(struct db *db, const struct event *ev,
    const struct oauth_client_revoked *d, struct err *e)
{
	(void)d;
	return db_run(db, e,
	    "UPDATE oauth_client SET status = 'revoked', changed_at = ?"
	    " WHERE uid = ?",
	    "tu", ev->at, ev->subject);
}

static int
project_access_token_issued(struct db *db, const struct event *ev,
    const struct access_token_issued *d, struct err *e)
{
	struct arena *a;
	struct digest hash;
	int result;

	if (credential_hash(d->sha256, &hash, e))
		return -1;
	a = arena_new();
	result = db_run(db, e,
	    "INSERT INTO access_token (uid, client, public_id, sha256,"
	    " secret_number, scopes, audience, issued_at, expires_at)"
	    " SELECT ?, uid, ?, ?, secret_number, ?, ?, ?, ?"
	    " FROM oauth_client WHERE uid = ?",
	    "usdssttu", ev->subject, d->public_id, hash,
	    words_join(a, d->scopes), words_join(a, d->audience), ev->at,
	    d->expires_at, d->client);
	arena_free(a);
	return result;
}

static int
project_access_token_revoked(struct db *db, const struct event *ev,
    const struct access_token_revoked *d, struct err *e)
{
	(void)d;
	return db_run(db, e,
	    "UPDATE access_token SET revoked_at = ? WHERE uid = ?", "tu",
	    ev->at, ev->subject);
}
