/* oauth-client list, access-token list. */
#include "domain/oauth/group.h"
#include "domain/words.h"

struct oauth_client_row {
	int64_t id;
	struct uid uid, application_uid;
	struct str client_id, label, status;
	struct str_list scopes;
	struct instant created_at, changed_at;
};

struct oauth_client_query {
	struct uid application;
	int64_t limit, after_id;
};

struct access_token_row {
	int64_t id;
	struct uid uid, client_uid;
	struct str public_id, status;
	struct str_list scopes, audience;
	struct instant issued_at, expires_at;
};

struct access_token_query {
	struct uid client;
	bool active;
	int64_t limit, after_id;
};

/* clang-format off */
SHAPE(oauth_client_row, "An OAuth client; its secret is kept nowhere",
	FIELD(oauth_client_row, id, .doc = "Number"),
	FIELD(oauth_client_row, uid, .doc = "Identifier"),
	FIELD(oauth_client_row, application_uid, .doc = "The application that owns it"),
	FIELD(oauth_client_row, client_id, .doc = "The name it authenticates by"),
	FIELD(oauth_client_row, label, .doc = "What it is for"),
	FIELD(oauth_client_row, status, .doc = "active or revoked"),
	FIELD(oauth_client_row, scopes, .doc = "Scopes its tokens may carry"),
	FIELD(oauth_client_row, created_at, .doc = "When it was created"),
	FIELD(oauth_client_row, changed_at, .doc = "When its secret was rotated or it was revoked last"));
SHAPE(oauth_client_query, "Which OAuth clients",
	FIELD(oauth_client_query, application, .place = IN_QUERY, .doc = "Only those of this application"),
	PAGE_QUERY(oauth_client_query));
PAGE_SHAPE(oauth_client_page, "OAuth clients", oauth_client_row_shape);
SHAPE(access_token_row, "An access token; the token itself is kept nowhere",
	FIELD(access_token_row, id, .doc = "Number"),
	FIELD(access_token_row, uid, .doc = "Identifier"),
	FIELD(access_token_row, client_uid, .doc = "The OAuth client that it was issued to"),
	FIELD(access_token_row, public_id, .doc = "The part of the token that is no secret"),
	FIELD(access_token_row, status, .doc = "active, expired or revoked"),
	FIELD(access_token_row, scopes, .doc = "Scopes it carries"),
	FIELD(access_token_row, audience, .doc = "Resources it was asked for"),
	FIELD(access_token_row, issued_at, .doc = "When it was issued"),
	FIELD(access_token_row, expires_at, .doc = "From when it is refused"));
SHAPE(access_token_query, "Which access tokens",
	FIELD(access_token_query, client, .place = IN_QUERY, .doc = "Only those of the OAuth client with this identifier"),
	FIELD(access_token_query, active, .place = IN_QUERY, .doc = "Only those that are in force"),
	PAGE_QUERY(access_token_query));
PAGE_SHAPE(access_token_page, "Access tokens", access_token_row_shape);
/* clang-format on */

LIST_OPERATION(oauth_client_list, oauth_client_query, oauth_client_page,
    .id = "oauth_client.list", .command = "oauth-client list",
    .product = "Core Platform",
    .summary = "List OAuth clients, without their secrets");
LIST_OPERATION(access_token_list, access_token_query, access_token_page,
    .id = "access_token.list", .command = "access-token list",
    .product = "Core Platform",
    .summary = "List access tokens, without the tokens");

static struct oauth_client_row
client_from(struct rows *r, struct arena *a)
{
	return (struct oauth_client_row){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.application_uid = rows_uid(r, 2),
		.client_id = rows_str(r, 3, a),
		.label = rows_str(r, 4, a),
		.status = rows_str(r, 5, a),
		.scopes = words_split(a, rows_str(r, 6, a)),
		.created_at = rows_instant(r, 7),
		.changed_at = rows_instant(r, 8),
	};
}

static int
oauth_client_list_read(struct context *c, const struct oauth_client_query *in,
    struct page *out, struct err *e)
{
	struct oauth_client_row *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, application, client_id, label, status,"
		" scopes, created_at, changed_at FROM oauth_client"
		" WHERE id > ?1 AND (?2 IS NULL OR application = ?2)"
		" ORDER BY id LIMIT ?3",
		"iui", in->after_id, in->application, in->limit + 1))
		return -1;
	out->data.items = items;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = client_from(&r, c->arena);
	}
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return rows_end(&r, e);
}

static struct access_token_row
token_from(struct rows *r, struct arena *a, struct instant now)
{
	struct access_token_row row = {
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.client_uid = rows_uid(r, 2),
		.public_id = rows_str(r, 3, a),
		.status = STR("active"),
		.scopes = words_split(a, rows_str(r, 5, a)),
		.audience = words_split(a, rows_str(r, 6, a)),
		.issued_at = rows_instant(r, 7),
		.expires_at = rows_instant(r, 8),
	};

	if (rows_int(r, 4) == 0)
		row.status = STR("revoked");
	else if (row.expires_at.us <= now.us)
		row.status = STR("expired");
	return row;
}

static int
access_token_list_read(struct context *c, const struct access_token_query *in,
    struct page *out, struct err *e)
{
	struct access_token_row *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT t.id, t.uid, t.client, t.public_id,"
		" t.revoked_at IS NULL AND c.status = 'active'"
		"  AND t.secret_number = c.secret_number AS holds,"
		" t.scopes, t.audience, t.issued_at, t.expires_at"
		" FROM access_token t JOIN oauth_client c ON c.uid = t.client"
		" WHERE t.id > ?1 AND (?2 IS NULL OR t.client = ?2)"
		" AND (NOT ?3 OR (holds AND t.expires_at > ?4))"
		" ORDER BY t.id LIMIT ?5",
		"iufti", in->after_id, in->client, in->active, c->now,
		in->limit + 1))
		return -1;
	out->data.items = items;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = token_from(&r, c->arena, c->now);
	}
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return rows_end(&r, e);
}
