/*
 * approver list
 */
#include "domain/approvers/group.h"
#include "domain/words.h"
#include "ledger/crypto/ed25519.h"

struct approver_query {
	int64_t limit, after_id;
};

/* clang-format off */
SHAPE(approver_record, "A person who decides by an SSH key",
	FIELD(approver_record, id, .doc = "Number"),
	FIELD(approver_record, uid, .doc = "Identifier"),
	FIELD(approver_record, name, .doc = "The person's name; null when it was erased"),
	FIELD(approver_record, public_key, .doc = "The person's key, as an OpenSSH line"),
	FIELD(approver_record, fingerprint, .doc = "The key's fingerprint, as OpenSSH prints it"),
	FIELD(approver_record, status, .doc = "active or revoked"),
	FIELD(approver_record, roles, .doc = "What the person may decide"),
	FIELD(approver_record, added_at, .doc = "When the person was registered"),
	FIELD(approver_record, changed_at, .doc = "When the status changed last"),
	FIELD(approver_record, erased_at, .omit_null = true, .doc = "When the name was erased"),
	FIELD(approver_record, erased_by_event, .omit_null = true, .doc = "The event that erased it"));
SHAPE(approver_query, "Which part of the list", PAGE_QUERY(approver_query));
PAGE_SHAPE(approver_page, "Approvers", approver_record_shape);
/* clang-format on */

LIST_OPERATION(approver_list, approver_query, approver_page,
    .id = "approver.list", .command = "approver list",
    .product = "Core Platform", .summary = "List the approvers");

struct str
approver_fingerprint(struct arena *a, struct str public_key)
{
	char text[PUBLIC_KEY_FINGERPRINT + 1];
	struct public_key key;

	if (public_key_parse(public_key, &key, NULL))
		return STR_NONE;
	public_key_fingerprint(key, text);
	return arena_str(a, str_from(text));
}

static int
decrypt(struct context *c, const struct rows *r, struct approver_record *out,
    struct err *e)
{
	struct content_key key;
	struct erasure by;
	int found = content_find(c, rows_uid(r, 3), &key, &by, e);

	if (found == 0) {
		out->erased_at = by.at;
		out->erased_by_event =
		    (struct opt_int){ true, (int64_t)by.seq };
	}
	if (found == 1 && content_open(c, &key, out->uid, "name",
			      rows_str(r, 2, c->arena), &out->name, e))
		found = -1;
	content_end(&key);
	return found < 0 ? -1 : 0;
}

static int
read_approver(struct context *c, const struct rows *r,
    struct approver_record *out, struct err *e)
{
	struct str key = rows_str(r, 4, c->arena);

	*out = (struct approver_record){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.public_key = key,
		.fingerprint = approver_fingerprint(c->arena, key),
		.roles = words_split(c->arena, rows_str(r, 5, c->arena)),
		.status = rows_str(r, 6, c->arena),
		.added_at = rows_instant(r, 7),
		.changed_at = rows_instant(r, 8),
	};
	return decrypt(c, r, out, e);
}

static int
read_rows(struct context *c, struct rows *r, size_t limit, struct page *out,
    struct err *e)
{
	struct approver_record *items =
	    arena_array(c->arena, limit, sizeof *items);
	int state;

	out->data.items = items;
	while ((state = rows_next(r, e)) == 1 && out->data.n < limit)
		if (read_approver(c, r, &items[out->data.n++], e))
			return -1;
	if (state == 1) {
		out->has_more = true;
		out->next_after_id =
		    (struct opt_int){ true, items[limit - 1].id };
	}
	return state < 0 ? -1 : 0;
}

static int
approver_list_read(struct context *c, const struct approver_query *in,
    struct page *out, struct err *e)
{
	struct rows r;
	int result;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, name_box, content_key, public_key, roles,"
		" status, added_at, changed_at FROM approver"
		" WHERE id > ? ORDER BY id LIMIT ?",
		"ii", in->after_id, in->limit + 1))
		return -1;
	result = read_rows(c, &r, (size_t)in->limit, out, e);
	return rows_end(&r, e) ? -1 : result;
}
