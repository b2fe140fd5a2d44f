#include "domain/applications/events.h"

#include "domain/applications.h"
#include "domain/words.h"

/* clang-format off */
SHAPE(application_created, "An application was registered",
	FIELD(application_created, name, .required = true, .max = 120, .doc = "Name"),
	FIELD(application_created, responsible, .required = true, .max = 120, .doc = "The person who answers for it"),
	FIELD(application_created, scopes, .max = 100, .doc = "Scopes its credentials may carry"),
	FIELD(application_created, entitlements, .max = 100, .doc = "Products it may use"));
SHAPE(status_changed, "A status changed",
	FIELD(status_changed, reason, .max = 280, .doc = "Why"));
SHAPE(credential_issued, "An API key was issued; its hash is kept, never the key",
	FIELD(credential_issued, application, .required = true, .doc = "The application that owns it"),
	FIELD(credential_issued, public_id, .required = true, .max = 64, .doc = "The part of the key that is no secret"),
	FIELD(credential_issued, sha256, .required = true, .doc = "SHA-256 of the whole key"),
	FIELD(credential_issued, label, .max = 120, .doc = "What it is for"),
	FIELD(credential_issued, scopes, .max = 100, .doc = "Scopes it carries"));
SHAPE(credential_rotated, "A credential got another key; the previous one is no longer in force",
	FIELD(credential_rotated, previous_public_id, .required = true, .max = 64, .doc = "Public id of the key that ended"),
	FIELD(credential_rotated, public_id, .required = true, .max = 64, .doc = "Public id of the new key"),
	FIELD(credential_rotated, sha256, .required = true, .doc = "SHA-256 of the whole new key"));
/* clang-format on */

EVENT_TYPE(application_created, "application.created", application_created,
    "An application was registered");
EVENT_TYPE(application_suspended, "application.suspended", status_changed,
    "An application's credentials are refused until it is resumed");
EVENT_TYPE(application_resumed, "application.resumed", status_changed,
    "A suspended application is active again");
EVENT_TYPE(application_revoked, "application.revoked", status_changed,
    "An application's credentials are refused for ever");
EVENT_TYPE(credential_issued, "credential.issued", credential_issued,
    "An API key was issued");
EVENT_TYPE(credential_rotated, "credential.rotated", credential_rotated,
    "An API key was replaced");
EVENT_TYPE(credential_revoked, "credential.revoked", status_changed,
    "An API key is refused for ever");

static int
project_application_created(struct db *db, const struct event *ev,
    const struct application_created *d, struct err *e)
{
	struct arena *a = arena_new();
	int result = db_run(db, e,
	    "INSERT INTO application (uid, name, responsible, status, scopes,"
	    " entitlements, created_at, changed_at)"
	    " VALUES (?, ?, ?, 'active', ?, ?, ?, ?)",
	    "usssstt", ev->subject, d->name, d->responsible,
	    words_join(a, d->scopes), words_join(a, d->entitlements), ev->at,
	    ev->at);

	arena_free(a);
	return result;
}

static int
set_application(
    struct db *db, const struct event *ev, const char *status, struct err *e)
{
	return db_run(db, e,
	    "UPDATE application SET status = ?, changed_at = ? WHERE uid = ?",
	    "stu", str_from(status), ev->at, ev->subject);
}

static int
project_application_suspended(struct db *db, const struct event *ev,
    const struct status_changed *d, struct err *e)
{
	(void)d;
	return set_application(db, ev, "suspended", e);
}

static int
project_application_resumed(struct db *db, const struct event *ev,
    const struct status_changed *d, struct err *e)
{
	(void)d;
	return set_application(db, ev, "active", e);
}

static int
project_application_revoked(struct db *db, const struct event *ev,
    const struct status_changed *d, struct err *e)
{
	(void)d;
	return set_application(db, ev, "revoked", e);
}

int
credential_hash(struct digest_text text, struct digest *out, struct err *e)
{
	if (!digest_from_hex(text.hex, out))
		return err_set(e, &err_corrupt, "sha256 is not a hash");
	return 0;
}

static int
project_credential_issued(struct db *db, const struct event *ev,
    const struct credential_issued *d, struct err *e)
{
	struct arena *a;
	struct digest hash;
	int result;

	if (credential_hash(d->sha256, &hash, e))
		return -1;
	a = arena_new();
	result = db_run(db, e,
	    "INSERT INTO credential (uid, application, public_id, sha256,"
	    " label, scopes, status, issued_at, changed_at)"
	    " VALUES (?, ?, ?, ?, ?, ?, 'active', ?, ?)",
	    "uusdsstt", ev->subject, d->application, d->public_id, hash,
	    d->label, words_join(a, d->scopes), ev->at, ev->at);
	arena_free(a);
	return result;
}

static int
project_credential_rotated(struct db *db, const struct event *ev,
    const struct credential_rotated *d, struct err *e)
{
	struct digest hash;

	if (credential_hash(d->sha256, &hash, e))
		return -1;
	return db_run(db, e,
	    "UPDATE credential SET public_id = ?, sha256 = ?, changed_at = ?"
	    " WHERE uid = ?",
	    "sdtu", d->public_id, hash, ev->at, ev->subject);
}

static int
project_credential_revoked(struct db *db, const struct event *ev,
    const struct status_changed *d, struct err *e)
{
	(void)d;
	return db_run(db, e,
	    "UPDATE credential SET status = 'revoked', changed_at = ?"
	    " WHERE uid = ?",
	    "tu", ev->at, ev->subject);
}
