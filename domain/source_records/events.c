#include "domain/source_records/events.h"

#include "domain/money.h"
#include "domain/source_records/seal.h"

/* clang-format off */
SHAPE(source_content, "What a seal covers",
	FIELD(source_content, kind, .required = true, .values = VALUES("obligation", "entitlement", "invoice", "statement_entry"), .doc = "What it is"),
	FIELD(source_content, amount, .required = true, .doc = "Above zero, in the currency's digits"),
	FIELD(source_content, currency, .required = true, .max = 3, .doc = "ISO 4217"),
	FIELD(source_content, reference, .omit_null = true, .doc = "The document's number; of an entry: the EndToEndId"),
	FIELD(source_content, counterparty_id, .omit_null = true, .doc = "Registered counterparty"),
	FIELD(source_content, arrangement_uid, .omit_null = true, .doc = "Registered arrangement"),
	FIELD(source_content, general_ledger_id, .omit_null = true, .doc = "General ledger account"),
	FIELD(source_content, due_on, .omit_null = true, .doc = "Date due"),
	FIELD(source_content, description, .omit_null = true, .doc = "In words"),
	FIELD(source_content, account, .omit_null = true, .doc = "Own bank account"),
	FIELD(source_content, statement, .omit_null = true, .doc = "The bank's statement identification"),
	FIELD(source_content, direction, .omit_null = true, .values = VALUES("credit", "debit"), .doc = "Credit: into the account"),
	FIELD(source_content, reversal, .doc = "Whether it takes an earlier booking back"),
	FIELD(source_content, booked_on, .omit_null = true, .doc = "Booking date"),
	FIELD(source_content, value_on, .omit_null = true, .doc = "Value date"),
	FIELD(source_content, bank_reference, .omit_null = true, .doc = "The bank's reference (AcctSvcrRef)"),
	FIELD(source_content, entry_reference, .omit_null = true, .doc = "The entry's reference (NtryRef)"),
	FIELD(source_content, counterparty_name, .omit_null = true, .doc = "Who is at the other end, as the bank writes it"),
	FIELD(source_content, counterparty_account, .omit_null = true, .doc = "The other end's account"),
	FIELD(source_content, remittance, .omit_null = true, .doc = "Remittance information"),
	FIELD(source_content, transactions, .omit_null = true, .doc = "Transactions that the entry details"));

SHAPE(sealed_record, "A sealed record",
	FIELD(sealed_record, uid, .required = true, .doc = "The record"),
	FIELD(sealed_record, line, .required = true, .doc = "Line of the file, or number of the entry in its statement"),
	FIELD(sealed_record, statement_uid, .omit_null = true, .doc = "The statement it came in"),
	FIELD(sealed_record, sha256, .required = true, .doc = "The seal: SHA-256 of the canonical form of record"),
	FIELD(sealed_record, record, .required = true, .of = &source_content_shape, .doc = "What is sealed"));

SHAPE(records_sealed, "Records sealed by an import",
	FIELD(records_sealed, import_uid, .required = true, .doc = "The import"),
	FIELD(records_sealed, first_id, .required = true, .doc = "Integer id of the first; the others follow it"),
	FIELD(records_sealed, records, .required = true, .of = &sealed_record_shape, .min = 1, .max = SEALED_PER_EVENT, .doc = "The records"));

SHAPE(import_total, "A control total",
	FIELD(import_total, currency, .required = true, .doc = "ISO 4217"),
	FIELD(import_total, direction, .omit_null = true, .doc = "Statement entries: credit or debit"),
	FIELD(import_total, records, .required = true, .doc = "How many records"),
	FIELD(import_total, amount, .required = true, .doc = "Their sum"));

SHAPE(import_recorded, "A file imported",
	FIELD(import_recorded, id, .required = true, .doc = "Integer id"),
	FIELD(import_recorded, format, .required = true, .doc = "csv or camt.053"),
	FIELD(import_recorded, kind, .required = true, .doc = "Kind of its records"),
	FIELD(import_recorded, file_name, .doc = "Base name of the file"),
	FIELD(import_recorded, file_sha256, .required = true, .doc = "SHA-256 of the file, which is this event's payload"),
	FIELD(import_recorded, request_sha256, .required = true, .doc = "SHA-256 over file and options"),
	FIELD(import_recorded, file_bytes, .required = true, .doc = "Length of the file"),
	FIELD(import_recorded, mapping, .omit_null = true, .doc = "CSV: which column is what"),
	FIELD(import_recorded, delimiter, .omit_null = true, .doc = "CSV: comma, semicolon or tab"),
	FIELD(import_recorded, decimal_sign, .omit_null = true, .doc = "CSV: point or comma"),
	FIELD(import_recorded, dates, .omit_null = true, .doc = "CSV: iso, dmy or mdy"),
	FIELD(import_recorded, general_ledger_id, .omit_null = true, .doc = "General ledger account given for the whole file"),
	FIELD(import_recorded, records, .required = true, .doc = "Records sealed"),
	FIELD(import_recorded, first_record_id, .omit_null = true, .doc = "Integer id of the first record"),
	FIELD(import_recorded, statement_uids, .max = 64, .doc = "Bank statements, in the file's order"),
	FIELD(import_recorded, totals, .of = &import_total_shape, .max = 400, .doc = "Sums by currency and direction"),
	FIELD(import_recorded, warnings, .max = 64, .doc = "What did not stop the import but wants looking at"));

SHAPE(statement_imported, "A bank statement imported",
	FIELD(statement_imported, id, .required = true, .doc = "Integer id"),
	FIELD(statement_imported, import_uid, .required = true, .doc = "The import"),
	FIELD(statement_imported, version, .required = true, .doc = "Version of camt.053.001"),
	FIELD(statement_imported, reference, .required = true, .doc = "The bank's statement identification"),
	FIELD(statement_imported, account, .required = true, .doc = "IBAN, or the bank's own number"),
	FIELD(statement_imported, servicer, .doc = "BIC of the bank"),
	FIELD(statement_imported, general_ledger_id, .doc = "General ledger account"),
	FIELD(statement_imported, sequence, .doc = "Electronic sequence number"),
	FIELD(statement_imported, from_on, .required = true, .doc = "Date of the opening balance"),
	FIELD(statement_imported, to_on, .required = true, .doc = "Date of the closing balance"),
	FIELD(statement_imported, currency, .required = true, .doc = "ISO 4217"),
	FIELD(statement_imported, opening, .required = true, .doc = "Opening balance"),
	FIELD(statement_imported, closing, .required = true, .doc = "Closing balance"),
	FIELD(statement_imported, credits, .required = true, .doc = "Sum of booked credits"),
	FIELD(statement_imported, debits, .required = true, .doc = "Sum of booked debits"),
	FIELD(statement_imported, entries, .required = true, .doc = "Booked entries"),
	FIELD(statement_imported, skipped, .required = true, .doc = "Entries passed over: not booked, or of zero"));
/* clang-format on */

EVENT_TYPE(import_recorded, "source_import.recorded", import_recorded,
    "A file of source records was imported; the file is the payload, in "
    "clear: of ledgers before source_import.received");
EVENT_TYPE(statement_imported, "bank_statement.imported", statement_imported,
    "A bank statement, whose opening balance and booked entries give its "
    "closing balance, was imported.");
EVENT_TYPE(records_sealed, "source_records.sealed", records_sealed,
    "Source records were sealed; the seal is the SHA-256 of the record's "
    "canonical bytes.");

int
source_total_add(struct db *db, struct str kind, int64_t n, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO source_total (kind, n) VALUES (?, ?) "
	    "ON CONFLICT (kind) DO UPDATE SET n = n + excluded.n",
	    "si", kind, n);
}

static int
project_import_recorded(struct db *db, const struct event *ev,
    const struct import_recorded *d, struct err *e)
{
	struct digest file, request;

	if (!digest_from_hex(d->file_sha256.hex, &file) ||
	    !digest_from_hex(d->request_sha256.hex, &request))
		return err_set(e, &err_corrupt, "not a SHA-256");
	if (db_run(db, e,
		"INSERT INTO source_import (id, uid, file_bytes, "
		"request_sha256, file_sha256, at, seq) "
		"VALUES (?, ?, NULL, ?, ?, ?, ?)",
		"iuddti", d->id, ev->subject, request, file, ev->at,
		(int64_t)ev->seq))
		return -1;
	return source_total_add(db, STR("import"), 1, e);
}

/* A decimal of an event in minor units; what was recorded always reads. */
static int
to_minor(struct decimal amount, struct str code, int64_t *out, struct err *e)
{
	const struct currency *currency = currency_find(code);
	struct money money;

	if (!currency || money_parse(amount.text, currency, &money) != MONEY_OK)
		return err_set(e, &err_corrupt, "\"%.*s %.*s\" is no amount",
		    STR_ARGS(amount.text), STR_ARGS(code));
	*out = money.minor;
	return 0;
}

static int
insert_statement(struct db *db, const struct event *ev,
    const struct statement_imported *d, struct err *e)
{
	int64_t opening, closing, credits, debits;

	if (to_minor(d->opening, d->currency, &opening, e) ||
	    to_minor(d->closing, d->currency, &closing, e) ||
	    to_minor(d->credits, d->currency, &credits, e) ||
	    to_minor(d->debits, d->currency, &debits, e))
		return -1;
	return db_run(db, e,
	    "INSERT INTO bank_statement (id, uid, reference, account, "
	    "servicer, general_ledger_id, sequence, from_on, to_on, currency, "
	    "opening_minor, closing_minor, credit_minor, debit_minor, entries, "
	    "open_entries, status, import_uid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
	    "?, ?, ?, ?, ?, ?, ?, ?, 'imported', ?)",
	    "iusssoosssiiiiiiu", d->id, ev->subject, d->reference, d->account,
	    d->servicer, d->general_ledger_id, d->sequence, d->from_on,
	    d->to_on, d->currency, opening, closing, credits, debits,
	    d->entries, d->entries, d->import_uid);
}

static int
project_statement_imported(struct db *db, const struct event *ev,
    const struct statement_imported *d, struct err *e)
{
	if (insert_statement(db, ev, d, e) ||
	    db_run(db, e,
		"INSERT INTO bank_account (account, statement_to) "
		"VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET "
		"statement_to = max(statement_to, excluded.statement_to)",
		"ss", d->account, d->to_on))
		return -1;
	return source_total_add(db, STR("bank_statement"), 1, e);
}

/* What a row has beside the event's members. */
struct row {
	int64_t id, seq, minor;
	struct seal seal;
	struct uid import;
};

static int
insert_record(struct db *db, const struct sealed_record *r,
    const struct row *row, struct err *e)
{
	const struct source_content *c = r->record;
	bool entry = str_is(c->kind, "statement_entry");
	struct opt_int debit = { entry, str_is(c->direction, "debit") };
	struct opt_int reversal = { entry, c->reversal };

	return db_run(db, e,
	    "INSERT INTO source_record (id, uid, kind, sha256, canonical, "
	    "entry_key, amount_minor, currency, counterparty_id, "
	    "arrangement_uid, general_ledger_id, reference, import_uid, line, "
	    "statement_uid, debit, reversal, bank_reference, booked_on, "
	    "value_on, seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
	    "?, ?, ?, ?, ?, ?, ?)",
	    "iusdsbisouosuiuoosssi", row->id, r->uid, c->kind, row->seal.sha256,
	    row->seal.canonical, seal_key_bytes(&row->seal), row->minor,
	    c->currency, c->counterparty_id, c->arrangement_uid,
	    c->general_ledger_id, c->reference, row->import, r->line,
	    r->statement_uid, debit, reversal, c->bank_reference, c->booked_on,
	    c->value_on, row->seq);
}

static int
project_record(struct db *db, const struct sealed_record *r, struct row *row,
    struct arena *a, struct err *e)
{
	const struct source_content *c = r->record;
	char hex[DIGEST_HEX + 1];

	if (seal_make(a, c, &row->seal, e) ||
	    to_minor(c->amount, c->currency, &row->minor, e))
		return -1;
	digest_hex(row->seal.sha256, hex);
	if (!str_is(r->sha256.hex, hex))
		return err_set(e, &err_corrupt,
		    "the seal of record %lld is not that of its bytes",
		    (long long)row->id);
	return insert_record(db, r, row, e);
}

static int
project_records_sealed(struct db *db, const struct event *ev,
    const struct records_sealed *d, struct err *e)
{
	const struct sealed_record *records = d->records.items;
	const struct source_content *first = records[0].record;
	struct row row = { .seq = (int64_t)ev->seq, .import = d->import_uid };
	struct arena *a = arena_new();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < d->records.n; i++) {
		row.id = d->first_id + (int64_t)i;
		rc = project_record(db, &records[i], &row, a, e);
	}
	arena_free(a);
	if (rc)
		return -1;
	/* All records of an import are of one kind. */
	return source_total_add(db, first->kind, (int64_t)d->records.n, e);
}
