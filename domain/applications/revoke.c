#include "domain/applications/events.h"
#include "domain/applications/group.h"
#include "domain/words.h"

struct credential_row {
	int64_t id;
	struct uid uid, application_uid;
	struct str public_id, label, status;
	struct str_list scopes;
	struct instant issued_at, changed_at;
};

struct credential_query {
	struct uid application;
	int64_t limit, after_id;
};

/* clang-format off */
SHAPE(credential_row, "A credential; the key itself is kept nowhere",
	FIELD(credential_row, id, .doc = "Number"),
	FIELD(credential_row, uid, .doc = "Identifier"),
	FIELD(credential_row, application_uid, .doc = "The application that owns it"),
	FIELD(credential_row, public_id, .doc = "The part of the key that is no secret"),
	FIELD(credential_row, label, .doc = "What it is for"),
	FIELD(credential_row, status, .doc = "active or revoked"),
	FIELD(credential_row, scopes, .doc = "Scopes it carries"),
	FIELD(credential_row, issued_at, .doc = "When it was issued"),
	FIELD(credential_row, changed_at, .doc = "When it was rotated or revoked last"));
SHAPE(credential_query, "Which credentials",
	FIELD(credential_query, application, .place = IN_QUERY, .doc = "Only those of this application"),
	PAGE_QUERY(credential_query));
PAGE_SHAPE(credential_page, "Credentials", credential_row_shape);
/* clang-format on */

WRITE_OPERATION(credential_revoke, change_request, status_reply,
    .id = "credential.revoke", .command = "credential revoke", .status = 200,
    .product = "Core Platform", .summary = "Refuse an API key for ever",
    .emits = EMITS(&event_credential_revoked));
LIST_OPERATION(credential_list, credential_query, credential_page,
    .id = "credential.list", .command = "credential list",
    .product = "Core Platform", .summary = "List API keys, without the keys");

static int
credential_revoke_decide(
    struct context *c, const struct change_request *in, struct err *e)
{
	struct status_changed data = { in->reason };
	int64_t active;

	if (db_get_int(c->db, &active, -1, e,
		"SELECT status = 'active' FROM credential WHERE uid = ?", "u",
		in->uid))
		return -1;
	if (active < 0)
		return err_set(
		    e, &err_not_found, "there is no such credential");
	if (active == 0)
		return err_set(e, &err_conflict, "the credential is revoked");
	return context_emit(
	    c, &event_credential_revoked, "credential", in->uid, &data, e);
}

static int
credential_revoke_reply(struct context *c, const struct event *ev,
    struct status_reply *out, struct err *e)
{
	struct status_changed data;

	if (context_event_data(c, ev, &event_credential_revoked, &data, e))
		return -1;
	*out = (struct status_reply){
		.uid = ev->subject,
		.status = STR("revoked"),
		.reason = data.reason,
		.changed_at = ev->at,
	};
	return db_get_int(c->db, &out->id, 0, e,
	    "SELECT id FROM credential WHERE uid = ?", "u", ev->subject);
}

static struct credential_row
row_from(struct rows *r, struct arena *a)
{
	return (struct credential_row){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.application_uid = rows_uid(r, 2),
		.public_id = rows_str(r, 3, a),
		.label = rows_str(r, 4, a),
		.status = rows_str(r, 5, a),
		.scopes = words_split(a, rows_str(r, 6, a)),
		.issued_at = rows_instant(r, 7),
		.changed_at = rows_instant(r, 8),
	};
}

static int
credential_list_read(struct context *c, const struct credential_query *in,
    struct page *out, struct err *e)
{
	struct credential_row *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, application, public_id, label, status,"
		" scopes, issued_at, changed_at FROM credential"
		" WHERE id > ?1 AND (?2 IS NULL OR application = ?2)"
		" ORDER BY id LIMIT ?3",
		"iui", in->after_id, in->application, in->limit + 1))
		return -1;
	out->data.items = items;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = row_from(&r, c->arena);
	}
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return rows_end(&r, e);
}
