/*
 * What an import records: one source_import.recorded, a
 * bank_statement.imported for each statement, and source_records.sealed as
 * often as the records need to fit into events.
 */
#ifndef DOMAIN_SOURCE_RECORDS_EVENTS_H
#define DOMAIN_SOURCE_RECORDS_EVENTS_H

#include "ledger/view/project.h"

#define SEALED_PER_EVENT 100

/*
 * What a seal covers: the canonical JSON of this, members without a value left
 * out.
 */
struct source_content {
	struct str kind;
	struct decimal amount; /* above zero, the currency's digits */
	struct str currency;
	struct str reference;
	struct opt_int counterparty_id;
	struct uid arrangement_uid;
	struct opt_int general_ledger_id;
	struct str due_on, description;
	/* Statement entries. */
	struct str account, statement, direction;
	bool reversal;
	struct str booked_on, value_on;
	struct str bank_reference, entry_reference;
	struct str counterparty_name, counterparty_account, remittance;
	struct opt_int transactions;
};
extern const struct shape source_content_shape;

struct sealed_record {
	struct uid uid;
	int64_t line; /* CSV: of the file; statement: the entry's number */
	struct uid statement_uid;
	struct digest_text sha256;
	const void *record; /* struct source_content */
};

struct records_sealed {
	struct uid import_uid;
	int64_t first_id; /* the others follow it */
	struct list records;
};
extern const struct shape records_sealed_shape;
extern const struct event_type event_records_sealed;

struct import_total {
	struct str currency, direction;
	int64_t records;
	struct decimal amount;
};
extern const struct shape import_total_shape;

/* The subject is the import. As ledgers from before files were encrypted have
 * it; received.h is its successor. */
struct import_recorded {
	int64_t id;
	struct str format, kind, file_name;
	struct digest_text file_sha256, request_sha256;
	int64_t file_bytes;
	struct str mapping, delimiter, decimal_sign, dates;
	struct opt_int general_ledger_id;
	int64_t records;
	struct opt_int first_record_id;
	struct str_list statement_uids;
	struct list totals; /* struct import_total */
	struct str_list warnings;
};
extern const struct shape import_recorded_shape;
extern const struct event_type event_import_recorded;

/* Adds to how many there are of a kind, in a projection. */
int source_total_add(struct db *, struct str kind, int64_t n, struct err *);

/* The subject is the statement. */
struct statement_imported {
	int64_t id;
	struct uid import_uid;
	struct str version; /* of camt.053.001 */
	struct str reference, account, servicer;
	struct opt_int general_ledger_id, sequence;
	struct str from_on, to_on, currency;
	struct decimal opening, closing, credits, debits;
	int64_t entries, skipped;
};
extern const struct shape statement_imported_shape;
extern const struct event_type event_statement_imported;

#endif
