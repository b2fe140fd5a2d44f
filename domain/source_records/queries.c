#include "domain/operation.h"
#include "domain/source_records.h"
#include "domain/source_records/group.h"

struct record_query {
	int64_t limit, after_id;
	struct str kind;
	struct uid import_uid;
	int64_t counterparty_id;
	struct str reference;
};

struct record_uid {
	struct uid uid;
};

struct record_reply {
	int64_t id;
	struct uid uid;
	struct str kind;
	struct digest_text sha256;
	struct decimal amount;
	struct str currency;
	struct opt_int counterparty_id;
	struct uid arrangement_uid;
	struct opt_int general_ledger_id;
	struct str reference, booked_on;
	struct uid import_uid;
	int64_t line;
	struct uid statement_uid, settles;
	int64_t seq;
	struct str canonical;
};

/* clang-format off */
SHAPE(record_query, "Which records",
	PAGE_QUERY(record_query),
	FIELD(record_query, kind, .place = IN_QUERY, .values = VALUES("obligation", "entitlement", "invoice", "statement_entry"), .doc = "Only this kind"),
	FIELD(record_query, import_uid, .place = IN_QUERY, .doc = "Only those of this import"),
	FIELD(record_query, counterparty_id, .place = IN_QUERY, .min = 1, .max = 9007199254740991, .doc = "Only this counterparty's"),
	FIELD(record_query, reference, .place = IN_QUERY, .max = 140, .doc = "Only those with this reference"));
SHAPE(record_uid, "One record",
	FIELD(record_uid, uid, .required = true, .doc = "Its identifier"));

#define RECORD_FIELDS \
	FIELD(record_reply, id, .doc = "Number"), \
	FIELD(record_reply, uid, .doc = "Identifier; source_uid of a Financial Action"), \
	FIELD(record_reply, kind, .doc = "obligation, entitlement, invoice or statement_entry"), \
	FIELD(record_reply, sha256, .doc = "The seal: SHA-256 of the canonical bytes"), \
	FIELD(record_reply, amount, .doc = "Amount"), \
	FIELD(record_reply, currency, .doc = "ISO 4217"), \
	FIELD(record_reply, counterparty_id, .doc = "Counterparty"), \
	FIELD(record_reply, arrangement_uid, .doc = "Arrangement"), \
	FIELD(record_reply, general_ledger_id, .doc = "General ledger account"), \
	FIELD(record_reply, reference, .doc = "The document's number; of an entry: the EndToEndId"), \
	FIELD(record_reply, booked_on, .doc = "Statement entries: booking date"), \
	FIELD(record_reply, import_uid, .doc = "The import that brought it"), \
	FIELD(record_reply, line, .doc = "Line of the file, or number of the entry in its statement"), \
	FIELD(record_reply, statement_uid, .doc = "Statement entries: the bank statement"), \
	FIELD(record_reply, settles, .doc = "Statement entries: the action that it reconciled"), \
	FIELD(record_reply, seq, .doc = "The event that sealed it")
SHAPE_AS(record_row, record_reply, "A source record", RECORD_FIELDS);
SHAPE(record_reply, "A source record with the bytes that were sealed", RECORD_FIELDS,
	FIELD(record_reply, canonical, .doc = "The sealed bytes: canonical JSON, RFC 8785"));
PAGE_SHAPE(record_page, "Source records", record_row_shape);
/* clang-format on */

LIST_OPERATION(source_record_list, record_query, record_page,
    .id = "source_record.list", .command = "source-record list",
    .product = "Financial Actions", .summary = "List sealed source records");
READ_OPERATION(source_record_show, record_uid, record_reply,
    .id = "source_record.show", .command = "source-record show",
    .product = "Financial Actions",
    .summary = "Show a source record and the bytes that were sealed");

#define COLUMNS                                                            \
	"SELECT id, uid, kind, sha256, amount_minor, currency,"            \
	" counterparty_id, arrangement_uid, general_ledger_id, reference," \
	" booked_on, import_uid, line, statement_uid, settles, seq,"       \
	" canonical FROM source_record "
/* After the condition that an index serves, those that only narrow. */
#define REST                                                                    \
	" AND id > ? AND (? IS NULL OR kind = ?) AND"                           \
	" (? IS NULL OR counterparty_id = ?) AND (? IS NULL OR import_uid = ?)" \
	" ORDER BY id LIMIT ?"
#define REST_TYPES "issoouui"

static struct digest_text
digest_of(struct arena *a, struct digest digest)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(digest, hex);
	return (struct digest_text){ arena_str(a, str_from(hex)) };
}

static struct record_reply
record_from(const struct rows *r, struct arena *a)
{
	struct str code = rows_str(r, 5, a);
	struct money money = { rows_int(r, 4), currency_find(code) };

	return (struct record_reply){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.kind = rows_str(r, 2, a),
		.sha256 = digest_of(a, rows_digest(r, 3)),
		.amount = { money_format(a, money) },
		.currency = code,
		.counterparty_id = rows_opt_int(r, 6),
		.arrangement_uid = rows_uid(r, 7),
		.general_ledger_id = rows_opt_int(r, 8),
		.reference = rows_str(r, 9, a),
		.booked_on = rows_str(r, 10, a),
		.import_uid = rows_uid(r, 11),
		.line = rows_int(r, 12),
		.statement_uid = rows_uid(r, 13),
		.settles = rows_uid(r, 14),
		.seq = rows_int(r, 15),
		.canonical = rows_str(r, 16, a),
	};
}

/* The narrowest index that the query allows. */
static int
query_records(struct context *c, const struct record_query *in, struct rows *r,
    struct err *e)
{
	struct opt_int party = { in->counterparty_id > 0, in->counterparty_id };
	struct uid import = in->import_uid;
	int64_t after = in->after_id, limit = in->limit + 1;

	if (in->reference.p)
		return db_query(c->db, r, e, COLUMNS "WHERE reference = ?" REST,
		    "s" REST_TYPES, in->reference, after, in->kind, in->kind,
		    party, party, import, import, limit);
	if (!uid_is_none(import))
		return db_query(c->db, r, e,
		    COLUMNS "WHERE import_uid = ?" REST, "u" REST_TYPES, import,
		    after, in->kind, in->kind, party, party, import, import,
		    limit);
	if (party.set)
		return db_query(c->db, r, e,
		    COLUMNS "WHERE counterparty_id = ?" REST, "o" REST_TYPES,
		    party, after, in->kind, in->kind, party, party, import,
		    import, limit);
	if (in->kind.p)
		return db_query(c->db, r, e, COLUMNS "WHERE kind = ?" REST,
		    "s" REST_TYPES, in->kind, after, in->kind, in->kind, party,
		    party, import, import, limit);
	return db_query(c->db, r, e, COLUMNS "WHERE id > ? ORDER BY id LIMIT ?",
	    "ii", after, limit);
}

static int
source_record_list_read(struct context *c, const struct record_query *in,
    struct page *out, struct err *e)
{
	struct record_reply *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);
	struct rows r;

	if (query_records(c, in, &r, e))
		return -1;
	out->data.items = items;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = record_from(&r, c->arena);
	}
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return rows_end(&r, e);
}

static int
find(struct context *c, struct uid uid, struct record_reply *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e, COLUMNS "WHERE uid = ?", "u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = record_from(&r, c->arena);
	return rows_end(&r, e) ? -1 : found;
}

static int
source_record_show_read(struct context *c, const struct record_uid *in,
    struct record_reply *out, struct err *e)
{
	int found = find(c, in->uid, out, e);

	if (found == 0)
		return err_set(
		    e, &err_not_found, "there is no such source record");
	return found == 1 ? 0 : -1;
}

int
source_record_find(
    struct context *c, struct uid uid, struct source_record *out, struct err *e)
{
	struct rows r;
	int found;

	*out = (struct source_record){ 0 };
	if (db_query(c->db, &r, e,
		"SELECT id, kind, sha256, currency, amount_minor,"
		" counterparty_id, arrangement_uid, reference, import_uid"
		" FROM source_record WHERE uid = ?",
		"u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct source_record){
			.id = rows_int(&r, 0),
			.uid = uid,
			.kind = rows_str(&r, 1, c->arena),
			.sha256 = digest_of(c->arena, rows_digest(&r, 2)),
			.currency = rows_str(&r, 3, c->arena),
			.amount_minor = rows_int(&r, 4),
			.counterparty_id = rows_int(&r, 5),
			.arrangement = rows_uid(&r, 6),
			.reference = rows_str(&r, 7, c->arena),
			.import = rows_uid(&r, 8),
		};
	return rows_end(&r, e) ? -1 : found;
}
