/*
 * approver add: a person's name and SSH key, and what the person may decide.
 * The key's comment, in which people keep a name, is not taken over.
 */
#include "domain/approvers.h"
#include "domain/approvers/events.h"
#include "domain/approvers/group.h"
#include "domain/words.h"

#define ACTIVE_MAX 100

struct approver_add {
	struct str name, public_key;
	struct str_list roles;
};

/* clang-format off */
SHAPE(approver_add, "A person to register as an approver",
	FIELD(approver_add, name, .required = true, .min = 1, .max = 120, .format = &format_text, .doc = "The person's name"),
	FIELD(approver_add, public_key, .required = true, .min = 1, .max = 4096, .doc = "The person's Ed25519 key: the line of an OpenSSH .pub file"),
	FIELD(approver_add, roles, .required = true, .min = 1, .max = 5, .values = VALUES(APPROVER_ACTION, APPROVER_PRODUCTION, APPROVER_PROMOTION, APPROVER_DELEGATION, APPROVER_HOLD), .doc = "What the person may decide"));
/* clang-format on */

PREPARE(approver_add, approver_add)
WRITE_OPERATION(approver_add, approver_add, approver_record,
    .id = "approver.add", .command = "approver add", .product = "Core Platform",
    .summary = "Register a person who decides by an SSH key",
    .file_field = "public_key", .prepare = approver_add_prepare_any,
    .refusals = REFUSES(&err_erased), .emits = EMITS(&event_approver_added));

/* Its uid, and what the event will say but for the number. */
struct prepared {
	struct uid uid;
	struct approver_added data;
};

/* In the form that every line of it has, so that a key is known again. */
static int
read_key(struct context *c, struct str text, struct str *out, struct err *e)
{
	char line[PUBLIC_KEY_SSH + 1];
	struct public_key key;
	struct err why = { 0 };

	if (public_key_parse(text, &key, &why))
		return err_add_field(e, c->arena, "pointer", "#/public_key",
		    "key",
		    "%s; make one with ssh-keygen -t ed25519 and give its "
		    ".pub file",
		    why.detail);
	public_key_ssh(key, line);
	*out = arena_str(c->arena, str_from(line));
	return 0;
}

static bool
is_role(const void *unused, struct str role)
{
	(void)unused;
	(void)role;
	return true; /* the shape has looked */
}

static int
approver_add_prepare(
    struct context *c, const struct approver_add *in, struct err *e)
{
	struct prepared *p = ARENA_NEW(c->arena, struct prepared);
	struct content_key key;

	if (read_key(c, in->public_key, &p->data.public_key, e) ||
	    words_check(c->arena, "roles", in->roles, is_role, NULL, "", e) ||
	    content_begin(c, &key, &p->uid, e))
		return -1;
	p->data.name = content_text(c, &key, p->uid, "name", in->name);
	p->data.roles = in->roles;
	content_end(&key);
	c->prepared = p;
	return 0;
}

static int
check_key_is_new(struct context *c, struct str public_key, struct err *e)
{
	int64_t same;

	if (db_get_int(c->db, &same, 0, e,
		"SELECT id FROM approver WHERE public_key = ?", "s",
		public_key))
		return -1;
	if (same == 0)
		return 0;
	return err_add_field(e, c->arena, "pointer", "#/public_key",
	    "duplicate", "is the key of approver %lld; a person makes another",
	    (long long)same);
}

/* A decision may name the approver: the names are decrypted one by one. */
static int
check_room(struct context *c, struct err *e)
{
	int64_t active;

	if (db_get_int(c->db, &active, 0, e,
		"SELECT count(*) FROM approver WHERE status = 'active'", ""))
		return -1;
	if (active >= ACTIVE_MAX)
		return err_set(e, &err_conflict,
		    "there are %d approvers; revoke one first", ACTIVE_MAX);
	return 0;
}

static int
approver_add_decide(
    struct context *c, const struct approver_add *in, struct err *e)
{
	struct prepared *p = c->prepared;

	(void)in;
	if (check_key_is_new(c, p->data.public_key, e) || check_room(c, e) ||
	    db_get_int(c->db, &p->data.id, 1, e,
		"SELECT coalesce(max(id), 0) + 1 FROM approver", ""))
		return -1;
	return context_emit(
	    c, &event_approver_added, "approver", p->uid, &p->data, e);
}

static int
approver_add_reply(struct context *c, const struct event *ev,
    struct approver_record *out, struct err *e)
{
	struct approver_added data;
	const struct sealed_text *name;
	struct content_key key;
	struct erasure erasure;
	int found;

	if (context_event_data(c, ev, &event_approver_added, &data, e))
		return -1;
	*out = (struct approver_record){
		.id = data.id,
		.uid = ev->subject,
		.public_key = data.public_key,
		.fingerprint = approver_fingerprint(c->arena, data.public_key),
		.status = STR("active"),
		.roles = data.roles,
		.added_at = ev->at,
		.changed_at = ev->at,
	};
	name = data.name;
	found = content_find(c, name->key, &key, &erasure, e);
	if (found == 0)
		return content_refuse(c, &erasure, e);
	if (found == 1 && content_open_text(c, &key, ev->subject, name, "name",
			      &out->name, e))
		found = -1;
	content_end(&key);
	return found < 0 ? -1 : 0;
}
