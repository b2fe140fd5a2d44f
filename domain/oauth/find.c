#include "domain/oauth/group.h"
#include "domain/words.h"

int
oauth_client_find(struct db *db, struct str client_id, struct arena *a,
    struct oauth_client *out, struct err *e)
{
	struct oauth_client nearest = { 0 };
	struct rows r;
	int found;

	if (db_query(db, &r, e,
		"SELECT c.uid, c.client_id, c.sha256, c.status, c.scopes,"
		" " CREDENTIAL_OWNER_COLUMNS
		" FROM oauth_client c" CREDENTIAL_OWNER_JOINS
		    CREDENTIAL_NEAREST("c", "oauth_client", "client_id"),
		"s", client_id))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		nearest.uid = rows_uid(&r, 0);
		nearest.credential = (struct credential){
			.public_id = rows_str(&r, 1, a),
			.sha256 = rows_digest(&r, 2),
			.status = rows_str(&r, 3, a),
			.scopes = words_split(a, rows_str(&r, 4, a)),
		};
		credential_owner_from(&r, 5, a, &nearest.credential);
		found = str_eq(nearest.credential.public_id, client_id);
		if (found)
			*out = nearest;
	}
	if (rows_end(&r, e))
		return -1;
	return found;
}

static void
token_from(struct rows *r, struct arena *a, struct access_token *out)
{
	out->uid = rows_uid(r, 0);
	out->client = rows_uid(r, 1);
	out->audience = words_split(a, rows_str(r, 2, a));
	out->issued_at = rows_instant(r, 3);
	out->credential = (struct credential){
		.expires_at = rows_instant(r, 4),
		.sha256 = rows_digest(r, 5),
		.scopes = words_split(a, rows_str(r, 6, a)),
		.status = rows_bool(r, 7) ? STR("active") : STR("revoked"),
		.public_id = rows_str(r, 8, a),
	};
	credential_owner_from(r, 10, a, &out->credential);
}

int
access_token_find(struct db *db, struct str public_id, struct arena *a,
    struct access_token *out, struct err *e)
{
	struct access_token nearest = { 0 };
	struct rows r;
	int found;

	if (db_query(db, &r, e,
		"SELECT t.uid, t.client, t.audience, t.issued_at,"
		" t.expires_at, t.sha256, t.scopes,"
		" t.revoked_at IS NULL AND c.status = 'active'"
		"  AND t.secret_number = c.secret_number,"
		" c.client_id, t.public_id, " CREDENTIAL_OWNER_COLUMNS
		" FROM access_token t JOIN oauth_client c ON c.uid = t.client" CREDENTIAL_OWNER_JOINS
		    CREDENTIAL_NEAREST("t", "access_token", "public_id"),
		"s", public_id))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		token_from(&r, a, &nearest);
		found = str_eq(rows_borrow(&r, 9), public_id);
		if (found)
			*out = nearest;
	}
	if (rows_end(&r, e))
		return -1;
	return found;
}

bool
access_token_is_active(const struct access_token *token, struct instant now)
{
	return str_is(token->credential.status, "active") &&
	       now.us < token->credential.expires_at.us;
}

int
access_token_count(
    struct context *c, struct uid client, int64_t *out, struct err *e)
{
	return db_get_int(c->db, out, 0, e,
	    "SELECT count(*) FROM access_token t JOIN oauth_client c"
	    " ON c.uid = t.client WHERE t.client = ? AND t.expires_at > ?"
	    " AND t.revoked_at IS NULL AND c.status = 'active'"
	    " AND t.secret_number = c.secret_number",
	    "ut", client, c->now);
}
