/* Bank statements and counts, as other groups read them. */
#include "domain/content.h"
#include "domain/source_records.h"

#define COLUMNS                                                              \
	"SELECT s.id, s.uid, s.reference, s.account, s.servicer,"            \
	" s.general_ledger_id, s.sequence, s.from_on, s.to_on, s.currency,"  \
	" s.opening_minor, s.closing_minor, s.credit_minor, s.debit_minor,"  \
	" s.entries, s.open_entries, s.status, s.import_uid, i.file_sha256," \
	" i.at, i.file_box, i.content_key FROM bank_statement s"             \
	" JOIN source_import i ON i.uid = s.import_uid WHERE "
#define REST " s.id > ? ORDER BY s.id LIMIT ?"

static struct digest_text
digest_of(struct arena *a, struct digest digest)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(digest, hex);
	return (struct digest_text){ arena_str(a, str_from(hex)) };
}

static struct bank_statement
statement_from(const struct rows *r, struct arena *a)
{
	return (struct bank_statement){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.reference = rows_str(r, 2, a),
		.account = rows_str(r, 3, a),
		.servicer = rows_str(r, 4, a),
		.general_ledger_id = rows_opt_int(r, 5),
		.sequence = rows_opt_int(r, 6),
		.from_on = rows_str(r, 7, a),
		.to_on = rows_str(r, 8, a),
		.currency = rows_str(r, 9, a),
		.opening_minor = rows_int(r, 10),
		.closing_minor = rows_int(r, 11),
		.credit_minor = rows_int(r, 12),
		.debit_minor = rows_int(r, 13),
		.entries = rows_int(r, 14),
		.open_entries = rows_int(r, 15),
		.status = rows_str(r, 16, a),
		.import = rows_uid(r, 17),
		.imported_at = rows_instant(r, 19),
	};
}

/* The hash of its file, or what erased it. */
static int
add_hash(struct context *c, const struct rows *r, struct bank_statement *out,
    struct err *e)
{
	struct content_key key;
	struct erasure by;
	int found;

	if (rows_is_null(r, 21)) {
		out->sha256 = digest_of(c->arena, rows_digest(r, 18));
		return 0;
	}
	found = content_find(c, rows_uid(r, 21), &key, &by, e);
	if (found == 0) {
		out->erased_at = by.at;
		out->erased_by_event =
		    (struct opt_int){ true, (int64_t)by.seq };
	}
	if (found == 1 && content_open(c, &key, out->import, "file_sha256",
			      rows_str(r, 20, c->arena), &out->sha256.hex, e))
		found = -1;
	content_end(&key);
	return found < 0 ? -1 : 0;
}

/* One query for each index, so that no filter makes a page dearer. */
static int
query_statements(struct context *c, const struct bank_statement_filter *f,
    struct rows *r, struct err *e)
{
	struct opt_int gl = f->general_ledger_id;
	int64_t after = f->after_id, limit = f->limit + 1;

	if (f->by_uid)
		return db_query(c->db, r, e,
		    COLUMNS "s.uid > coalesce(?, '') ORDER BY s.uid LIMIT ?",
		    "ui", f->after_uid, limit);
	if (!uid_is_none(f->uid))
		return db_query(c->db, r, e,
		    COLUMNS "s.uid = ? AND (? IS NULL OR s.status = ?) AND"
			    " (? IS NULL OR s.general_ledger_id = ?) AND" REST,
		    "ussooii", f->uid, f->status, f->status, gl, gl, after,
		    limit);
	if (gl.set && f->status.p)
		return db_query(c->db, r, e,
		    COLUMNS "s.general_ledger_id = ? AND s.status = ? AND" REST,
		    "osii", gl, f->status, after, limit);
	if (gl.set)
		return db_query(c->db, r, e,
		    COLUMNS "s.general_ledger_id = ? AND" REST, "oii", gl,
		    after, limit);
	if (f->status.p)
		return db_query(c->db, r, e, COLUMNS "s.status = ? AND" REST,
		    "sii", f->status, after, limit);
	return db_query(c->db, r, e, COLUMNS REST, "ii", after, limit);
}

int
bank_statement_uid(
    struct context *c, int64_t id, struct uid *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT uid FROM bank_statement WHERE id = ?", "i", id))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = rows_uid(&r, 0);
	return rows_end(&r, e) ? -1 : found;
}

int
bank_statements_list(struct context *c, const struct bank_statement_filter *f,
    struct bank_statement **out, size_t *n, bool *has_more, struct err *e)
{
	struct rows r;
	int rc = 0;

	*out = arena_array(c->arena, (size_t)f->limit, sizeof **out);
	*n = 0;
	*has_more = false;
	if (query_statements(c, f, &r, e))
		return -1;
	while (rc == 0 && !*has_more && rows_next(&r, e) == 1) {
		if (*n == (size_t)f->limit) {
			*has_more = true;
			break;
		}
		(*out)[*n] = statement_from(&r, c->arena);
		rc = add_hash(c, &r, &(*out)[(*n)++], e);
	}
	return rows_end(&r, e) ? -1 : rc;
}

struct str
bank_account_masked(struct arena *a, struct str account)
{
	size_t shown = 0, from = account.n;

	while (from > 0 && shown < 4) {
		from--;
		if (((unsigned char)account.p[from] & 0xc0) != 0x80)
			shown++;
	}
	/* Of a short number the last four would be nearly all of it. */
	if (from < 4)
		return STR("****");
	return arena_strf(
	    a, "****%.*s", STR_ARGS(str_slice(account, from, account.n)));
}

static void
count_kind(struct source_record_counts *out, struct str kind, int64_t n)
{
	if (str_is(kind, "obligation"))
		out->obligations = n;
	else if (str_is(kind, "entitlement"))
		out->entitlements = n;
	else if (str_is(kind, "invoice"))
		out->invoices = n;
	else if (str_is(kind, "statement_entry"))
		out->statement_entries = n;
	else if (str_is(kind, "import"))
		out->imports = n;
	else if (str_is(kind, "bank_statement"))
		out->bank_statements = n;
}

static int
read_latest(struct context *c, struct source_record_counts *out, struct err *e)
{
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT count(*), max(statement_to),"
		" (SELECT at FROM source_import ORDER BY id DESC LIMIT 1)"
		" FROM bank_account",
		""))
		return -1;
	if (rows_next(&r, e) == 1) {
		out->bank_accounts = rows_int(&r, 0);
		out->statement_to = rows_str(&r, 1, c->arena);
		out->imported_at = rows_instant(&r, 2);
	}
	return rows_end(&r, e);
}

int
source_records_count(
    struct context *c, struct source_record_counts *out, struct err *e)
{
	struct rows r;

	*out = (struct source_record_counts){ 0 };
	if (db_query(c->db, &r, e, "SELECT kind, n FROM source_total", ""))
		return -1;
	while (rows_next(&r, e) == 1)
		count_kind(out, rows_str(&r, 0, c->arena), rows_int(&r, 1));
	return rows_end(&r, e) ? -1 : read_latest(c, out, e);
}
