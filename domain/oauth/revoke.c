/*
 * oauth-client revoke ends a client with all its tokens, access-token revoke
 * one token and nothing else.
 */
#include "domain/oauth/events.h"
#include "domain/oauth/group.h"

struct oauth_revoke {
	struct uid uid;
	struct str reason;
};

struct oauth_client_ended {
	int64_t id;
	struct uid uid;
	struct str status, reason;
	int64_t tokens_revoked;
	struct instant changed_at;
};

struct access_token_ended {
	int64_t id;
	struct uid uid;
	struct str status, reason;
	struct instant revoked_at;
};

/* clang-format off */
SHAPE(oauth_revoke, "What to revoke",
	FIELD(oauth_revoke, uid, .required = true, .doc = "Its identifier"),
	FIELD(oauth_revoke, reason, .max = 280, .format = &format_text, .doc = "Why, for the record"));
SHAPE(oauth_client_ended, "An OAuth client that was revoked",
	FIELD(oauth_client_ended, id, .doc = "Number"),
	FIELD(oauth_client_ended, uid, .doc = "Identifier"),
	FIELD(oauth_client_ended, status, .doc = "revoked"),
	FIELD(oauth_client_ended, reason, .doc = "Why"),
	FIELD(oauth_client_ended, tokens_revoked, .doc = "Tokens that were in force and ended with it"),
	FIELD(oauth_client_ended, changed_at, .doc = "When"));
SHAPE(access_token_ended, "An access token that was revoked",
	FIELD(access_token_ended, id, .doc = "Number"),
	FIELD(access_token_ended, uid, .doc = "Identifier"),
	FIELD(access_token_ended, status, .doc = "revoked"),
	FIELD(access_token_ended, reason, .doc = "Why"),
	FIELD(access_token_ended, revoked_at, .doc = "When"));
/* clang-format on */

WRITE_OPERATION(oauth_client_revoke, oauth_revoke, oauth_client_ended,
    .id = "oauth_client.revoke", .command = "oauth-client revoke",
    .status = 200, .product = "Core Platform",
    .summary = "Refuse an OAuth client and all its tokens for ever",
    .emits = EMITS(&event_oauth_client_revoked));
WRITE_OPERATION(access_token_revoke, oauth_revoke, access_token_ended,
    .id = "access_token.revoke", .command = "access-token revoke",
    .status = 200, .product = "Core Platform",
    .summary = "Refuse one access token for ever",
    .emits = EMITS(&event_access_token_revoked));

static int
oauth_client_revoke_decide(
    struct context *c, const struct oauth_revoke *in, struct err *e)
{
	struct oauth_client_revoked data = { .reason = in->reason };
	int64_t active;

	if (db_get_int(c->db, &active, -1, e,
		"SELECT status = 'active' FROM oauth_client WHERE uid = ?", "u",
		in->uid) ||
	    access_token_count(c, in->uid, &data.tokens_revoked, e))
		return -1;
	if (active < 0)
		return err_set(
		    e, &err_not_found, "there is no such OAuth client");
	if (active == 0)
		return err_set(e, &err_conflict, "the OAuth client is revoked");
	return context_emit(
	    c, &event_oauth_client_revoked, "oauth_client", in->uid, &data, e);
}

static int
oauth_client_revoke_reply(struct context *c, const struct event *ev,
    struct oauth_client_ended *out, struct err *e)
{
	struct oauth_client_revoked data;

	if (context_event_data(c, ev, &event_oauth_client_revoked, &data, e))
		return -1;
	*out = (struct oauth_client_ended){
		.uid = ev->subject,
		.status = STR("revoked"),
		.reason = data.reason,
		.tokens_revoked = data.tokens_revoked,
		.changed_at = ev->at,
	};
	return db_get_int(c->db, &out->id, 0, e,
	    "SELECT id FROM oauth_client WHERE uid = ?", "u", ev->subject);
}

/* 1 in force, 0 not any more, -1. */
static int
is_in_force(struct context *c, struct uid uid, struct err *e)
{
	struct access_token token = { 0 };
	struct str public_id = STR_NONE;
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT public_id FROM access_token WHERE uid = ?", "u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		public_id = rows_str(&r, 0, c->arena);
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_set(
		    e, &err_not_found, "there is no such access token");
	if (access_token_find(c->db, public_id, c->arena, &token, e) < 0)
		return -1;
	return access_token_is_active(&token, c->now);
}

static int
access_token_revoke_decide(
    struct context *c, const struct oauth_revoke *in, struct err *e)
{
	struct access_token_revoked data = { in->reason };
	int active = is_in_force(c, in->uid, e);

	if (active < 0)
		return -1;
	if (active == 0)
		return err_set(
		    e, &err_conflict, "the access token is no longer in force");
	return context_emit(
	    c, &event_access_token_revoked, "access_token", in->uid, &data, e);
}

static int
access_token_revoke_reply(struct context *c, const struct event *ev,
    struct access_token_ended *out, struct err *e)
{
	struct access_token_revoked data;

	if (context_event_data(c, ev, &event_access_token_revoked, &data, e))
		return -1;
	*out = (struct access_token_ended){
		.uid = ev->subject,
		.status = STR("revoked"),
		.reason = data.reason,
		.revoked_at = ev->at,
	};
	return db_get_int(c->db, &out->id, 0, e,
	    "SELECT id FROM access_token WHERE uid = ?", "u", ev->subject);
}
