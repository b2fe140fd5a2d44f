#include "domain/approvers.h"
#include "domain/content.h"
#include "domain/words.h"
#include "ledger/codec/canon.h"
#include "ledger/crypto/sshsig.h"

#define DAY_US  INT64_C(86400000000)
#define SKEW_US INT64_C(300000000) /* what clocks may differ by */

struct approver {
	struct uid uid;
	struct str public_key, status;
	struct str_list roles;
};

static struct approver
approver_from(const struct rows *r, struct arena *a)
{
	return (struct approver){
		.uid = rows_uid(r, 0),
		.public_key = rows_str(r, 1, a),
		.roles = words_split(a, rows_str(r, 2, a)),
		.status = rows_str(r, 3, a),
	};
}

static int
find_by_uid(
    struct context *c, struct uid uid, struct approver *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT uid, public_key, roles, status FROM approver"
		" WHERE uid = ?",
		"u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = approver_from(&r, c->arena);
	return rows_end(&r, e) ? -1 : found;
}

/* Whether the row's name is this one; an erased name is nobody's. */
static int
has_name(
    struct context *c, const struct rows *r, struct str name, struct err *e)
{
	struct content_key key;
	struct erasure by;
	struct str clear;
	int found = content_find(c, rows_uid(r, 5), &key, &by, e);

	if (found == 1) {
		if (content_open(c, &key, rows_uid(r, 0), "name",
			rows_str(r, 4, c->arena), &clear, e))
			found = -1;
		else
			found = str_eq(clear, name);
	}
	content_end(&key);
	return found;
}

/* No index is over names: those of the active ones are decrypted. */
static int
find_by_name(
    struct context *c, struct str name, struct approver *out, struct err *e)
{
	struct rows r;
	int state, same = 0, n = 0;

	if (db_query(c->db, &r, e,
		"SELECT uid, public_key, roles, status, name_box, content_key"
		" FROM approver WHERE status = 'active' ORDER BY id",
		""))
		return -1;
	while (same >= 0 && (state = rows_next(&r, e)) == 1) {
		same = has_name(c, &r, name, e);
		if (same == 1 && n++ == 0)
			*out = approver_from(&r, c->arena);
	}
	if (rows_end(&r, e) || same < 0 || state < 0)
		return -1;
	if (n > 1)
		return err_add_field(e, c->arena, "pointer", "#/approver",
		    "ambiguous",
		    "is the name of %d approvers; give the identifier", n);
	return n;
}

static int
find_approver(struct context *c, struct str who, const char *role,
    struct approver *out, struct err *e)
{
	struct uid uid;
	int found = uid_parse(who, &uid) ? find_by_uid(c, uid, out, e)
					 : find_by_name(c, who, out, e);

	if (found < 0)
		return -1;
	if (found == 0)
		return err_add_field(e, c->arena, "pointer", "#/approver",
		    "unknown", "is no active approver of this ledger");
	if (!str_is(out->status, "active"))
		return err_add_field(e, c->arena, "pointer", "#/approver",
		    "revoked", "is revoked: its decisions are taken no more");
	if (!words_have(out->roles, str_from(role)))
		return err_add_field(e, c->arena, "pointer", "#/approver",
		    "role", "is not registered for the role %s", role);
	return 0;
}

static int
bad_statement(
    struct context *c, struct err *e, const char *code, const char *detail)
{
	return err_add_field(
	    e, c->arena, "pointer", "#/statement", code, "%s", detail);
}

static int
check_at(struct context *c, struct str text, struct err *e)
{
	struct instant at;

	if (!text.p || !instant_parse(text, &at))
		return bad_statement(c, e, "at",
		    "at must be a time like 2026-01-31T09:30:00.000000Z");
	if (at.us < c->now.us - DAY_US)
		return bad_statement(c, e, "at",
		    "at is more than a day ago; sign a new statement");
	if (at.us > c->now.us + SKEW_US)
		return bad_statement(c, e, "at",
		    "at is in the future; compare the clocks, and sign a new "
		    "statement");
	return 0;
}

static int
check_statement(struct context *c, struct str statement, struct err *e)
{
	struct err why = { 0 };
	struct json *v;

	if (statement.n > STATEMENT_MAX)
		return bad_statement(c, e, "max", "must be shorter");
	if (canon_check_event(statement, &why) ||
	    json_parse(c->arena, statement, &json_limits_default, &v, &why) ||
	    v->type != JSON_OBJECT)
		return bad_statement(c, e, "canonical",
		    "must be the bytes that were signed: one object in "
		    "canonical JSON, without a line end");
	if (!str_eq(json_get_str(v, "ledger"), ledger_origin(c->ledger)))
		return bad_statement(
		    c, e, "ledger", "is for another ledger than this one");
	return check_at(c, json_get_str(v, "at"), e);
}

static int
check_signature(struct context *c, const struct approver *a,
    struct str statement, struct str signature, struct err *e)
{
	struct err why = { 0 };
	struct public_key key;
	struct sshsig s;

	if (public_key_parse(a->public_key, &key, NULL))
		return err_set(
		    e, &err_view_damaged, "read model: an approver's key");
	if (sshsig_parse(signature, &s, &why))
		return err_add_field(e, c->arena, "pointer", "#/signature",
		    "form", "%s; sign with ssh-keygen -Y sign", why.detail);
	if (!public_key_eq(s.key, key))
		return err_add_field(e, c->arena, "pointer", "#/signature",
		    "key", "is by another key than the approver's");
	if (!sshsig_verify(&s, STR(APPROVAL_NAMESPACE), statement))
		return err_add_field(e, c->arena, "pointer", "#/signature",
		    "signature",
		    "does not verify: sign exactly the statement's bytes, with "
		    "-n " APPROVAL_NAMESPACE);
	return 0;
}

int
approver_verify(struct context *c, struct str who, const char *role,
    struct str statement, struct str signature, struct uid *out, struct err *e)
{
	struct approver approver;

	if (find_approver(c, who, role, &approver, e) ||
	    check_statement(c, statement, e) ||
	    check_signature(c, &approver, statement, signature, e))
		return -1;
	*out = approver.uid;
	return 0;
}

int
approver_public_key(
    struct context *c, struct uid uid, struct str *out, struct err *e)
{
	struct approver approver;
	int found = find_by_uid(c, uid, &approver, e);

	if (found < 0)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found, "there is no such approver");
	*out = approver.public_key;
	return 0;
}
