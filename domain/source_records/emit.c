#include "domain/source_records/emit.h"

#include "domain/source_records/received.h"

/* Sealed bytes of one event; the largest record and the event's own members
 * still fit below EVENT_MAX. */
#define EVENT_ROOM 48000
/* What stands around a record's canonical bytes. */
#define RECORD_OVERHEAD 204

/* Numbers are given while deciding and stand in the events. */
struct numbers {
	int64_t import, statement, record;
};

static int
next_numbers(struct context *c, struct numbers *out, struct err *e)
{
	if (db_get_int(c->db, &out->import, 0, e,
		"SELECT coalesce(max(id), 0) + 1 FROM source_import", "") ||
	    db_get_int(c->db, &out->statement, 0, e,
		"SELECT coalesce(max(id), 0) + 1 FROM bank_statement", "") ||
	    db_get_int(c->db, &out->record, 0, e,
		"SELECT coalesce(max(id), 0) + 1 FROM source_record", ""))
		return -1;
	return 0;
}

static size_t
record_bytes(const struct draft *d)
{
	return d->seal.canonical.n + RECORD_OVERHEAD;
}

static int
check_size(const struct plan *plan, struct err *e)
{
	size_t bytes = 0;

	for (size_t i = 0; i < plan->n; i++)
		bytes += record_bytes(&plan->drafts[i]);
	if (bytes <= IMPORT_BYTES)
		return 0;
	return err_set(e, &err_too_large,
	    "%zu records of %zu bytes; one import takes at most %u bytes, so "
	    "that it happens whole or not at all: split the file",
	    plan->n, bytes, IMPORT_BYTES);
}

static struct digest_text
digest_text(struct arena *a, struct digest digest)
{
	char *hex = arena_alloc(a, DIGEST_HEX + 1);

	digest_hex(digest, hex);
	return (struct digest_text){ { hex, DIGEST_HEX } };
}

static struct str_list
new_statement_uids(struct context *c, struct plan *plan)
{
	size_t n = plan->bank.n_statements;
	struct str *texts = arena_array(c->arena, n + 1, sizeof *texts);

	plan->statement_uids =
	    arena_array(c->arena, n + 1, sizeof *plan->statement_uids);
	for (size_t i = 0; i < n; i++) {
		char text[UID_TEXT + 1];

		plan->statement_uids[i] = tx_uid(c->tx);
		uid_format(plan->statement_uids[i], text);
		texts[i] = arena_str(c->arena, str_from(text));
	}
	return (struct str_list){ texts, n };
}

static int
emit_file(struct context *c, struct plan *plan, struct uid import,
    const struct numbers *numbers, struct str_list warnings, struct err *e)
{
	const struct import_file *in = plan->in;
	bool csv = plan->bank.n_statements == 0;
	const struct import_sealed *sealed = &plan->sealed;
	struct import_received data = {
		.id = numbers->import,
		.format = in->format,
		.kind = plan->kind,
		.file = sealed->file,
		.file_name = sealed->file_name,
		.file_sha256 = sealed->file_sha256,
		.request_sha256 = sealed->request_sha256,
		.file_bytes = (int64_t)in->file.n,
		.mapping = sealed->mapping,
		.delimiter = csv ? in->delimiter : STR_NONE,
		.decimal_sign = csv ? in->decimal_sign : STR_NONE,
		.dates = csv ? in->dates : STR_NONE,
		.general_ledger_id = in->general_ledger_id,
		.records = (int64_t)plan->n,
		.first_record_id = { plan->n > 0, numbers->record },
		.statement_uids = new_statement_uids(c, plan),
		.warnings = warnings,
	};

	if (plan_totals(c->arena, plan, &data.totals, e))
		return -1;
	return context_emit_with(c, &event_import_received, "source_import",
	    import, &data, &plan->payload, 1, e);
}

static struct decimal
decimal_of(struct arena *a, int64_t minor, const struct currency *currency)
{
	return (struct decimal){ money_format(
	    a, (struct money){ minor, currency }) };
}

static int
emit_statement(struct context *c, const struct plan *plan,
    const struct camt053_statement *s, size_t at, struct uid import, int64_t id,
    struct err *e)
{
	struct statement_imported data = {
		.id = id,
		.import_uid = import,
		.version = plan->bank.version,
		.reference = s->id,
		.account = s->account,
		.servicer = s->servicer,
		.general_ledger_id = plan->in->general_ledger_id,
		.sequence = { s->sequence >= 0,
		    s->sequence >= 0 ? s->sequence : 0 },
		.from_on = s->opening.on,
		.to_on = s->closing.on,
		.currency = str_from(s->currency->code),
		.opening = decimal_of(c->arena, s->opening.minor, s->currency),
		.closing = decimal_of(c->arena, s->closing.minor, s->currency),
		.credits = decimal_of(c->arena, s->credit_minor, s->currency),
		.debits = decimal_of(c->arena, s->debit_minor, s->currency),
		.entries = (int64_t)s->n_entries,
		.skipped = (int64_t)s->skipped,
	};

	return context_emit(c, &event_statement_imported, "bank_statement",
	    plan->statement_uids[at], &data, e);
}

static int
emit_statements(struct context *c, const struct plan *plan, struct uid import,
    int64_t id, struct err *e)
{
	size_t at = 0;

	for (const struct camt053_statement *s = plan->bank.statements; s;
	     s = s->next, at++)
		if (emit_statement(c, plan, s, at, import, id + (int64_t)at, e))
			return -1;
	return 0;
}

/* How many drafts from here on go into one event. */
static size_t
chunk_length(const struct plan *plan, size_t from)
{
	size_t n = 0, bytes = 0;

	while (from + n < plan->n && n < SEALED_PER_EVENT) {
		bytes += record_bytes(&plan->drafts[from + n]);
		if (n > 0 && bytes > EVENT_ROOM)
			break;
		n++;
	}
	return n;
}

static int
emit_chunk(struct context *c, const struct plan *plan, size_t from, size_t n,
    struct uid import, int64_t id, struct err *e)
{
	struct sealed_record *records =
	    arena_array(c->arena, n, sizeof *records);
	struct records_sealed data = { import, id, { records, n } };

	for (size_t i = 0; i < n; i++) {
		const struct draft *d = &plan->drafts[from + i];

		records[i].uid = d->uid;
		records[i].line = (int64_t)d->line;
		if (plan->bank.n_statements > 0)
			records[i].statement_uid =
			    plan->statement_uids[d->statement];
		records[i].sha256 = digest_text(c->arena, d->seal.sha256);
		records[i].record = &d->content;
	}
	return context_emit(
	    c, &event_records_sealed, "source_import", import, &data, e);
}

int
emit_import(struct context *c, struct plan *plan, struct str_list warnings,
    struct err *e)
{
	struct uid import = plan->uid;
	struct numbers numbers;

	if (check_size(plan, e) || next_numbers(c, &numbers, e) ||
	    emit_file(c, plan, import, &numbers, warnings, e) ||
	    emit_statements(c, plan, import, numbers.statement, e))
		return -1;
	for (size_t from = 0; from < plan->n;) {
		size_t n = chunk_length(plan, from);

		if (emit_chunk(c, plan, from, n, import,
			numbers.record + (int64_t)from, e))
			return -1;
		from += n;
	}
	return 0;
}
