#include "domain/approvers/events.h"

#include "domain/words.h"
#include "ledger/crypto/sealed.h"

/* clang-format off */
SHAPE(approver_added, "A person was registered as an approver",
	FIELD(approver_added, id, .required = true, .doc = "Number"),
	FIELD(approver_added, name, .required = true, .of = &sealed_text_shape, .doc = "The person's name, encrypted"),
	FIELD(approver_added, public_key, .required = true, .max = 200, .doc = "The person's key, as an OpenSSH line"),
	FIELD(approver_added, roles, .max = 10, .doc = "What the person may decide"));
SHAPE(approver_revoked, "An approver's decisions are taken no more",
	FIELD(approver_revoked, id, .required = true, .doc = "Number"),
	FIELD(approver_revoked, reason, .required = true, .max = 280, .doc = "Why"));
/* clang-format on */

EVENT_TYPE(approver_added, "approver.added", approver_added,
    "An operator registered a person who decides by an SSH key; the name is "
    "encrypted");
EVENT_TYPE(approver_revoked, "approver.revoked", approver_revoked,
    "An operator ended what an approver may decide, for ever");

static int
insert_added(struct db *db, const struct event *ev,
    const struct approver_added *d, struct arena *a, struct err *e)
{
	const struct sealed_text *name = d->name;
	struct str box;

	if (sealed_text_box(a, name, &box, e))
		return -1;
	return db_run(db, e,
	    "INSERT INTO approver (id, uid, name_box, content_key, public_key,"
	    " roles, status, added_at, changed_at)"
	    " VALUES (?, ?, ?, ?, ?, ?, 'active', ?, ?)",
	    "iubusstt", d->id, ev->subject, box, name->key, d->public_key,
	    words_join(a, d->roles), ev->at, ev->at);
}

static int
project_approver_added(struct db *db, const struct event *ev,
    const struct approver_added *d, struct err *e)
{
	struct arena *a = arena_new();
	int rc = insert_added(db, ev, d, a, e);

	arena_free(a);
	return rc;
}

static int
project_approver_revoked(struct db *db, const struct event *ev,
    const struct approver_revoked *d, struct err *e)
{
	return db_run(db, e,
	    "UPDATE approver SET status = 'revoked', changed_at = ?"
	    " WHERE id = ?",
	    "ti", ev->at, d->id);
}
