/*
 * credential issue and rotate: a key is made while deciding, shown once in the
 * reply, and recorded by its hash. A replay shows no key.
 */
#include "domain/applications.h"
#include "domain/applications/events.h"
#include "domain/applications/group.h"
#include "domain/production.h"
#include "domain/words.h"

#include <string.h>

struct credential_issue {
	struct uid application;
	struct str_list scopes;
	struct str label;
};

struct credential_uid {
	struct uid uid;
};

struct credential_new {
	int64_t id;
	struct uid uid, application_uid;
	struct str public_id, environment, label, status;
	struct str_list scopes;
	struct str key;
	bool secret_shown;
	struct instant issued_at;
};

struct credential_renewed {
	int64_t id;
	struct uid uid;
	struct str public_id, previous_public_id, environment, status, key;
	bool secret_shown;
	struct instant rotated_at;
};

/* clang-format off */
SHAPE(credential_issue, "A key to issue",
	FIELD(credential_issue, application, .required = true, .doc = "Identifier of the application that owns it"),
	FIELD(credential_issue, scopes, .max = 100, .doc = "Scopes it carries; all of the application's when not given"),
	FIELD(credential_issue, label, .max = 120, .format = &format_text, .doc = "What it is for"));
SHAPE(credential_uid, "The credential",
	FIELD(credential_uid, uid, .required = true, .doc = "Its identifier"));
SHAPE(credential_new, "A credential that was issued",
	FIELD(credential_new, id, .doc = "Number"),
	FIELD(credential_new, uid, .doc = "Identifier"),
	FIELD(credential_new, application_uid, .doc = "The application that owns it"),
	FIELD(credential_new, public_id, .doc = "The part of the key that is no secret"),
	FIELD(credential_new, environment, .doc = "sandbox or production"),
	FIELD(credential_new, label, .doc = "What it is for"),
	FIELD(credential_new, status, .doc = "active"),
	FIELD(credential_new, scopes, .doc = "Scopes it carries"),
	FIELD(credential_new, key, .doc = "The key, shown this once"),
	FIELD(credential_new, secret_shown, .doc = "The key was shown before and is not shown again"),
	FIELD(credential_new, issued_at, .doc = "When"));
SHAPE(credential_renewed, "A credential with its new key",
	FIELD(credential_renewed, id, .doc = "Number"),
	FIELD(credential_renewed, uid, .doc = "Identifier"),
	FIELD(credential_renewed, public_id, .doc = "Public id of the new key"),
	FIELD(credential_renewed, previous_public_id, .doc = "Public id of the key that ended"),
	FIELD(credential_renewed, environment, .doc = "sandbox or production"),
	FIELD(credential_renewed, status, .doc = "active"),
	FIELD(credential_renewed, key, .doc = "The key, shown this once"),
	FIELD(credential_renewed, secret_shown, .doc = "The key was shown before and is not shown again"),
	FIELD(credential_renewed, rotated_at, .doc = "When"));
/* clang-format on */

WRITE_OPERATION(credential_issue, credential_issue, credential_new,
    .id = "credential.issue", .command = "credential issue",
    .product = "Core Platform", .summary = "Issue an API key, shown once",
    .emits = EMITS(&event_credential_issued),
    .refusals = REFUSES(&err_production_closed));
WRITE_OPERATION(credential_rotate, credential_uid, credential_renewed,
    .id = "credential.rotate", .command = "credential rotate", .status = 200,
    .product = "Core Platform",
    .summary = "Replace an API key; the previous one ends at once",
    .emits = EMITS(&event_credential_rotated),
    .refusals = REFUSES(&err_production_closed));

/* No live key comes to be while production is closed. */
int
credential_may_be_issued(struct context *c, struct err *e)
{
	bool open;

	if (!str_is(c->place->environment, "production"))
		return 0;
	if (production_is_open(c, &open, e))
		return -1;
	if (!open)
		return err_set(e, &err_production_closed,
		    "production of %.*s is not open: no live key is issued",
		    STR_ARGS(c->place->workspace));
	return 0;
}

struct api_key
credential_make_key(struct context *c, enum key_kind kind)
{
	uint8_t random[48];
	struct api_key key;

	tx_random(c->tx, random, sizeof random);
	c->secret = key_make(c->arena, kind, c->place, random);
	explicit_bzero(random, sizeof random);
	(void)key_parse(c->arena, c->secret, &key);
	return key;
}

struct digest_text
credential_hash_text(struct arena *a, struct digest hash)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(hash, hex);
	return (struct digest_text){ arena_str(a, str_from(hex)) };
}

int
credential_find_owner(struct context *c, struct uid application,
    struct str_list *scopes, struct err *e)
{
	struct str status = STR_NONE;
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT status, scopes FROM application WHERE uid = ?", "u",
		application))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		status = rows_str(&r, 0, c->arena);
		*scopes = words_split(c->arena, rows_str(&r, 1, c->arena));
	}
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_add_field(e, c->arena, "pointer", "#/application",
		    "unknown", "is not an application of this workspace");
	if (!str_is(status, "active"))
		return err_set(e, &err_conflict, "the application is %.*s",
		    STR_ARGS(status));
	return 0;
}

static int
credential_issue_decide(
    struct context *c, const struct credential_issue *in, struct err *e)
{
	struct str_list owned = { 0 };
	struct api_key key;
	struct credential_issued data;

	if (credential_may_be_issued(c, e) ||
	    credential_find_owner(c, in->application, &owned, e) ||
	    words_check(c->arena, "scopes", in->scopes, words_among, &owned,
		"a scope of the application", e))
		return -1;
	key = credential_make_key(c, KEY_API);
	data = (struct credential_issued){
		.application = in->application,
		.public_id = key.public_id,
		.sha256 = credential_hash_text(c->arena, key.sha256),
		.label = in->label,
		.scopes = in->scopes.n ? in->scopes : owned,
	};
	return context_emit(
	    c, &event_credential_issued, "credential", tx_uid(c->tx), &data, e);
}

static int
credential_issue_reply(struct context *c, const struct event *ev,
    struct credential_new *out, struct err *e)
{
	struct credential_issued data;

	if (context_event_data(c, ev, &event_credential_issued, &data, e))
		return -1;
	*out = (struct credential_new){
		.uid = ev->subject,
		.application_uid = data.application,
		.public_id = data.public_id,
		.environment = c->place->environment,
		.label = data.label,
		.status = STR("active"),
		.scopes = data.scopes,
		.key = c->secret,
		.secret_shown = !c->secret.p,
		.issued_at = ev->at,
	};
	return db_get_int(c->db, &out->id, 0, e,
	    "SELECT id FROM credential WHERE uid = ?", "u", ev->subject);
}

/* The public id of a credential that may still be used. */
static int
find_credential(
    struct context *c, struct uid uid, struct str *public_id, struct err *e)
{
	struct str status = STR_NONE, owner = STR_NONE;
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT c.status, a.status, c.public_id FROM credential c"
		" JOIN application a ON a.uid = c.application WHERE c.uid = ?",
		"u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		status = rows_str(&r, 0, c->arena);
		owner = rows_str(&r, 1, c->arena);
		*public_id = rows_str(&r, 2, c->arena);
	}
	if (rows_end(&r, e) || found < 0)
		return -1;
	if (found == 0)
		return err_set(
		    e, &err_not_found, "there is no such credential");
	if (!str_is(status, "active") || str_is(owner, "revoked"))
		return err_set(e, &err_conflict,
		    "the credential is %.*s, its application %.*s",
		    STR_ARGS(status), STR_ARGS(owner));
	return 0;
}

static int
credential_rotate_decide(
    struct context *c, const struct credential_uid *in, struct err *e)
{
	struct credential_rotated data = { 0 };
	struct api_key key;

	if (credential_may_be_issued(c, e) ||
	    find_credential(c, in->uid, &data.previous_public_id, e))
		return -1;
	key = credential_make_key(c, KEY_API);
	data.public_id = key.public_id;
	data.sha256 = credential_hash_text(c->arena, key.sha256);
	return context_emit(
	    c, &event_credential_rotated, "credential", in->uid, &data, e);
}

static int
credential_rotate_reply(struct context *c, const struct event *ev,
    struct credential_renewed *out, struct err *e)
{
	struct credential_rotated data;

	if (context_event_data(c, ev, &event_credential_rotated, &data, e))
		return -1;
	*out = (struct credential_renewed){
		.uid = ev->subject,
		.public_id = data.public_id,
		.previous_public_id = data.previous_public_id,
		.environment = c->place->environment,
		.status = STR("active"),
		.key = c->secret,
		.secret_shown = !c->secret.p,
		.rotated_at = ev->at,
	};
	return db_get_int(c->db, &out->id, 0, e,
	    "SELECT id FROM credential WHERE uid = ?", "u", ev->subject);
}
