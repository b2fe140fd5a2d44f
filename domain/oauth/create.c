/*
 * oauth-client create and rotate: a secret is made while deciding, shown once
 * in the reply, and recorded by its hash. A replay shows none.
 */
#include "domain/oauth/events.h"
#include "domain/oauth/group.h"
#include "domain/production.h"
#include "domain/words.h"

struct oauth_client_create {
	struct uid application;
	struct str_list scopes;
	struct str label;
};

struct oauth_client_uid {
	struct uid uid;
};

struct oauth_client_new {
	int64_t id;
	struct uid uid, application_uid;
	struct str client_id, client_secret, environment, label, status;
	struct str_list scopes;
	bool secret_shown;
	struct instant created_at;
};

struct oauth_client_renewed {
	int64_t id;
	struct uid uid;
	struct str client_id, client_secret, environment, status;
	int64_t tokens_revoked;
	bool secret_shown;
	struct instant rotated_at;
};

/* clang-format off */
SHAPE(oauth_client_create, "An OAuth client to create",
	FIELD(oauth_client_create, application, .required = true, .doc = "Identifier of the application that owns it"),
	FIELD(oauth_client_create, scopes, .max = 100, .doc = "Scopes its tokens may carry; all of the application's when not given"),
	FIELD(oauth_client_create, label, .max = 120, .format = &format_text, .doc = "What it is for"));
SHAPE(oauth_client_uid, "The OAuth client",
	FIELD(oauth_client_uid, uid, .required = true, .doc = "Its identifier"));
SHAPE(oauth_client_new, "An OAuth client that was created",
	FIELD(oauth_client_new, id, .doc = "Number"),
	FIELD(oauth_client_new, uid, .doc = "Identifier"),
	FIELD(oauth_client_new, application_uid, .doc = "The application that owns it"),
	FIELD(oauth_client_new, client_id, .doc = "The name it authenticates by"),
	FIELD(oauth_client_new, client_secret, .doc = "The secret, shown this once"),
	FIELD(oauth_client_new, environment, .doc = "sandbox or production"),
	FIELD(oauth_client_new, label, .doc = "What it is for"),
	FIELD(oauth_client_new, status, .doc = "active"),
	FIELD(oauth_client_new, scopes, .doc = "Scopes its tokens may carry"),
	FIELD(oauth_client_new, secret_shown, .doc = "The secret was shown before and is not shown again"),
	FIELD(oauth_client_new, created_at, .doc = "When"));
SHAPE(oauth_client_renewed, "An OAuth client with its new secret",
	FIELD(oauth_client_renewed, id, .doc = "Number"),
	FIELD(oauth_client_renewed, uid, .doc = "Identifier"),
	FIELD(oauth_client_renewed, client_id, .doc = "The name it authenticates by, as before"),
	FIELD(oauth_client_renewed, client_secret, .doc = "The secret, shown this once"),
	FIELD(oauth_client_renewed, environment, .doc = "sandbox or production"),
	FIELD(oauth_client_renewed, status, .doc = "active"),
	FIELD(oauth_client_renewed, tokens_revoked, .doc = "Tokens that were in force and ended with the previous secret"),
	FIELD(oauth_client_renewed, secret_shown, .doc = "The secret was shown before and is not shown again"),
	FIELD(oauth_client_renewed, rotated_at, .doc = "When"));
/* clang-format on */

WRITE_OPERATION(oauth_client_create, oauth_client_create, oauth_client_new,
    .id = "oauth_client.create", .command = "oauth-client create",
    .product = "Core Platform",
    .summary = "Create an OAuth client; its secret is shown once",
    .emits = EMITS(&event_oauth_client_created),
    .refusals = REFUSES(&err_production_closed));
WRITE_OPERATION(oauth_client_rotate, oauth_client_uid, oauth_client_renewed,
    .id = "oauth_client.rotate", .command = "oauth-client rotate",
    .status = 200, .product = "Core Platform",
    .summary = "Replace a client's secret; the previous one and all its tokens "
	       "end at once",
    .emits = EMITS(&event_oauth_client_secret_rotated),
    .refusals = REFUSES(&err_production_closed));

/* The first secret's public id in the client's own words. */
static struct str
client_id_of(struct arena *a, const struct api_key *secret)
{
	return arena_strf(a, "pbyc%.*s",
	    STR_ARGS(str_slice(secret->public_id, 4, secret->public_id.n)));
}

static int
oauth_client_create_decide(
    struct context *c, const struct oauth_client_create *in, struct err *e)
{
	struct str_list owned = { 0 };
	struct oauth_client_created data;
	struct api_key secret;

	if (credential_may_be_issued(c, e) ||
	    credential_find_owner(c, in->application, &owned, e) ||
	    words_check(c->arena, "scopes", in->scopes, words_among, &owned,
		"a scope of the application", e))
		return -1;
	secret = credential_make_key(c, KEY_CLIENT_SECRET);
	data = (struct oauth_client_created){
		.application = in->application,
		.client_id = client_id_of(c->arena, &secret),
		.sha256 = credential_hash_text(c->arena, secret.sha256),
		.label = in->label,
		.scopes = in->scopes.n ? in->scopes : owned,
	};
	return context_emit(c, &event_oauth_client_created, "oauth_client",
	    tx_uid(c->tx), &data, e);
}

static int
oauth_client_create_reply(struct context *c, const struct event *ev,
    struct oauth_client_new *out, struct err *e)
{
	struct oauth_client_created data;

	if (context_event_data(c, ev, &event_oauth_client_created, &data, e))
		return -1;
	*out = (struct oauth_client_new){
		.uid = ev->subject,
		.application_uid = data.application,
		.client_id = data.client_id,
		.client_secret = c->secret,
		.environment = c->place->environment,
		.label = data.label,
		.status = STR("active"),
		.scopes = data.scopes,
		.secret_shown = !c->secret.p,
		.created_at = ev->at,
	};
	return db_get_int(c->db, &out->id, 0, e,
	    "SELECT id FROM oauth_client WHERE uid = ?", "u", ev->subject);
}

/* Whether the client may still be used. */
static int
check_client(struct context *c, struct uid uid, struct err *e)
{
	struct str status = STR_NONE, owner = STR_NONE;
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT c.status, a.status FROM oauth_client c"
		" JOIN application a ON a.uid = c.application WHERE c.uid = ?",
		"u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		status = rows_str(&r, 0, c->arena);
		owner = rows_str(&r, 1, c->arena);
	}
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_set(
		    e, &err_not_found, "there is no such OAuth client");
	if (!str_is(status, "active") || str_is(owner, "revoked"))
		return err_set(e, &err_conflict,
		    "the OAuth client is %.*s, its application %.*s",
		    STR_ARGS(status), STR_ARGS(owner));
	return 0;
}

static int
oauth_client_rotate_decide(
    struct context *c, const struct oauth_client_uid *in, struct err *e)
{
	struct oauth_client_secret_rotated data = { 0 };

	if (credential_may_be_issued(c, e) || check_client(c, in->uid, e) ||
	    access_token_count(c, in->uid, &data.tokens_revoked, e))
		return -1;
	data.sha256 = credential_hash_text(
	    c->arena, credential_make_key(c, KEY_CLIENT_SECRET).sha256);
	return context_emit(c, &event_oauth_client_secret_rotated,
	    "oauth_client", in->uid, &data, e);
}

/* The client id never changes, so the table may say it. */
static int
read_client_id(struct context *c, struct uid uid,
    struct oauth_client_renewed *out, struct err *e)
{
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT id, client_id FROM oauth_client WHERE uid = ?", "u",
		uid))
		return -1;
	if (rows_next(&r, e) == 1) {
		out->id = rows_int(&r, 0);
		out->client_id = rows_str(&r, 1, c->arena);
	}
	return rows_end(&r, e);
}

static int
oauth_client_rotate_reply(struct context *c, const struct event *ev,
    struct oauth_client_renewed *out, struct err *e)
{
	struct oauth_client_secret_rotated data;

	if (context_event_data(
		c, ev, &event_oauth_client_secret_rotated, &data, e))
		return -1;
	*out = (struct oauth_client_renewed){
		.uid = ev->subject,
		.client_secret = c->secret,
		.environment = c->place->environment,
		.status = STR("active"),
		.tokens_revoked = data.tokens_revoked,
		.secret_shown = !c->secret.p,
		.rotated_at = ev->at,
	};
	return read_client_id(c, ev->subject, out, e);
}
