#include "domain/operation.h"
#include "domain/parties.h"
#include "domain/source_records/emit.h"
#include "domain/source_records/group.h"
#include "domain/source_records/received.h"
#include "domain/source_records/resolve.h"

struct source_import {
	int64_t id;
	struct uid uid;
	struct str format, kind, file_name;
	struct digest_text file_sha256;
	int64_t file_bytes;
	struct opt_int general_ledger_id;
	int64_t records;
	struct opt_int first_record_id;
	struct str_list statement_uids;
	struct list totals;
	struct str_list warnings;
	bool already_imported;
	struct instant imported_at;
};

/* clang-format off */
SHAPE(import_file, "A file of source records",
	FIELD(import_file, file, .required = true, .min = 1, .max = IMPORT_FILE_BYTES, .doc = "The file, UTF-8, at most 16 MiB"),
	FIELD(import_file, file_name, .max = 255, .format = &format_text, .doc = "Its base name"),
	FIELD(import_file, format, .required = true, .values = VALUES("csv", "camt.053"), .doc = "CSV with a header, or bank statements of ISO 20022"),
	FIELD(import_file, kind, .values = VALUES("obligation", "entitlement", "invoice", "statement_entry"), .doc = "What the rows are; needed for CSV, always statement_entry for camt.053"),
	FIELD(import_file, mapping, .max = 2000, .format = &format_text, .doc = "CSV: member=Column or member:=value, separated by commas"),
	FIELD(import_file, delimiter, .def = "comma", .values = VALUES("comma", "semicolon", "tab"), .doc = "CSV: between the fields"),
	FIELD(import_file, decimal_sign, .def = "point", .values = VALUES("point", "comma"), .doc = "CSV: within amounts"),
	FIELD(import_file, dates, .def = "iso", .values = VALUES("iso", "dmy", "mdy"), .doc = "CSV: YYYY-MM-DD, DD.MM.YYYY or MM/DD/YYYY"),
	FIELD(import_file, general_ledger_id, .min = 1, .max = 9007199254740991, .doc = "General ledger account of the whole file"));

SHAPE(source_import, "An import",
	FIELD(source_import, id, .doc = "Number"),
	FIELD(source_import, uid, .doc = "Identifier"),
	FIELD(source_import, format, .doc = "csv or camt.053"),
	FIELD(source_import, kind, .doc = "Kind of its records"),
	FIELD(source_import, file_name, .doc = "Base name of the file"),
	FIELD(source_import, file_sha256, .doc = "SHA-256 of the file, which the ledger keeps"),
	FIELD(source_import, file_bytes, .doc = "Length of the file"),
	FIELD(source_import, general_ledger_id, .doc = "General ledger account given for the whole file"),
	FIELD(source_import, records, .doc = "Records sealed"),
	FIELD(source_import, first_record_id, .doc = "Number of the first; the others follow it"),
	FIELD(source_import, statement_uids, .max = CAMT053_STATEMENTS, .doc = "Bank statements, in the file's order"),
	FIELD(source_import, totals, .of = &import_total_shape, .max = 400, .doc = "Sums by currency and direction"),
	FIELD(source_import, warnings, .max = 64, .doc = "What did not stop the import but wants looking at"),
	FIELD(source_import, already_imported, .doc = "The same file was imported before in the same way; nothing changed"),
	FIELD(source_import, imported_at, .doc = "When it was imported"));
/* clang-format on */

PREPARE(source_record_import, import_file)
WRITE_OPERATION(source_record_import, import_file, source_import,
    .id = "source_record.import", .command = "source-record import",
    .product = "Financial Actions", .file_field = "file",
    .summary = "Import and seal source records from a file",
    .prepare = source_record_import_prepare_any,
    .refusals = REFUSES(&err_erased),
    .emits = EMITS(&event_import_received, &event_statement_imported,
	&event_records_sealed));

static bool
is_csv(const struct import_file *in)
{
	return str_is(in->format, "csv");
}

static int
check_options(struct context *c, const struct import_file *in, struct err *e)
{
	bool entries = str_is(in->kind, "statement_entry");

	if (is_csv(in) && (!in->kind.p || entries))
		return err_add_field(e, c->arena, "pointer", "#/kind", "enum",
		    "must be obligation, entitlement or invoice for CSV");
	if (!is_csv(in) && in->kind.p && !entries)
		return err_add_field(e, c->arena, "pointer", "#/kind", "enum",
		    "must be statement_entry, or absent, for camt.053");
	if (!is_csv(in) && in->mapping.p)
		return err_add_field(e, c->arena, "pointer", "#/mapping",
		    "unknown", "is for CSV");
	if (in->file.n > IMPORT_FILE_BYTES)
		return err_set(e, &err_too_large,
		    "the file has %zu bytes; at most %u are read", in->file.n,
		    IMPORT_FILE_BYTES);
	return 0;
}

/* The file and all that says how to read it: the same again is the same
 * import. Options hold no line ends. */
static struct digest
request_digest(const struct plan *plan, struct arena *a)
{
	const struct import_file *in = plan->in;
	struct str ledger =
	    in->general_ledger_id.set
		? arena_strf(a, "%lld", (long long)in->general_ledger_id.v)
		: STR_NONE;
	struct str end = STR("\n");
	struct str parts[] = { STR("probity-import/v1"), end,
		{ (const char *)plan->file.b, DIGEST_BYTES }, in->format, end,
		plan->kind, end, ledger, end, in->mapping, end, in->delimiter,
		end, in->decimal_sign, end, in->dates };

	/* How CSV is read says nothing about a statement. */
	return sha256_parts(
	    parts, is_csv(in) ? sizeof parts / sizeof parts[0] : 8);
}

static int
source_record_import_prepare(
    struct context *c, const struct import_file *in, struct err *e)
{
	struct plan *plan = ARENA_NEW(c->arena, struct plan);

	if (check_options(c, in, e))
		return -1;
	plan->in = in;
	plan->kind = is_csv(in) ? in->kind : STR("statement_entry");
	plan->file = sha256(in->file);
	plan->request = request_digest(plan, c->arena);
	if (is_csv(in) ? plan_csv(c->arena, plan, e)
		       : plan_camt053(c->arena, plan, e))
		return -1;
	c->prepared = plan;
	if (import_find_same(c, plan, e))
		return -1;
	if (plan->same >= 0)
		return 0;
	return counterparty_names_read(c, &plan->parties, e) ||
		       import_seal(c, plan, e)
		   ? -1
		   : 0;
}

static int
source_record_import_decide(
    struct context *c, const struct import_file *in, struct err *e)
{
	struct plan *plan = c->prepared;
	struct str_list warnings;

	(void)in;
	if (import_find_newer(c, plan, e))
		return -1;
	if (plan->same >= 0) {
		context_answer_with(c, (uint64_t)plan->same);
		return 0;
	}
	if (counterparty_names_update(c, plan->parties, e) ||
	    resolve_statements(c, plan, &warnings, e) ||
	    resolve_records(c, plan, e))
		return -1;
	return emit_import(c, plan, warnings, e);
}

/* The same again, of a file from before they were encrypted. */
static int
reply_in_clear(struct context *c, const struct event *ev,
    struct source_import *out, struct err *e)
{
	struct import_recorded d;

	if (context_event_data(c, ev, &event_import_recorded, &d, e))
		return -1;
	*out = (struct source_import){
		.id = d.id,
		.format = d.format,
		.kind = d.kind,
		.file_name = d.file_name,
		.file_sha256 = d.file_sha256,
		.file_bytes = d.file_bytes,
		.general_ledger_id = d.general_ledger_id,
		.records = d.records,
		.first_record_id = d.first_record_id,
		.statement_uids = d.statement_uids,
		.totals = d.totals,
		.warnings = d.warnings,
	};
	return 0;
}

static int
reply_decrypted(struct context *c, const struct event *ev,
    struct source_import *out, struct err *e)
{
	struct file_facts file = { 0 };
	struct import_received d;

	if (context_event_data(c, ev, &event_import_received, &d, e) ||
	    import_open_file(c, ev, &d, &file, e))
		return -1;
	*out = (struct source_import){
		.id = d.id,
		.format = d.format,
		.kind = d.kind,
		.file_name = file.name,
		.file_sha256 = { file.sha256 },
		.file_bytes = d.file_bytes,
		.general_ledger_id = d.general_ledger_id,
		.records = d.records,
		.first_record_id = d.first_record_id,
		.statement_uids = d.statement_uids,
		.totals = d.totals,
		.warnings = d.warnings,
	};
	return 0;
}

static int
source_record_import_reply(struct context *c, const struct event *ev,
    struct source_import *out, struct err *e)
{
	int rc = str_is(ev->type, event_import_recorded.name)
		     ? reply_in_clear(c, ev, out, e)
		     : reply_decrypted(c, ev, out, e);

	out->uid = ev->subject;
	out->already_imported = c->answered;
	out->imported_at = ev->at;
	return rc;
}
