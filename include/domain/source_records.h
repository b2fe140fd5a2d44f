/*
 * Sealed source records: imported obligations, entitlements, invoices and bank
 * statement entries, each sealed by the SHA-256 of its canonical bytes; and the
 * bank statements that the entries came in.
 */
#ifndef DOMAIN_SOURCE_RECORDS_H
#define DOMAIN_SOURCE_RECORDS_H

#include "domain/context.h"
#include "domain/money.h"

struct source_record {
	int64_t id;
	struct uid uid;
	struct str kind; /* obligation, entitlement, invoice, statement_entry */
	struct digest_text sha256;
	struct str currency;
	int64_t amount_minor;    /* above zero */
	int64_t counterparty_id; /* 0: none, statement entries only */
	struct uid arrangement;  /* none: it has none */
	struct str reference;
	struct uid import;
};

/* 1 found, 0 not in this ledger, -1. */
int source_record_find(
    struct context *, struct uid, struct source_record *, struct err *);

/*
 * A booked entry of a bank statement, as reconciliation matches it. Payments
 * that leave the account are debits.
 */
struct statement_entry {
	int64_t id; /* the source record's */
	struct uid uid;
	bool debit;
	bool reversal; /* takes an earlier booking back: a return */
	struct str currency;
	int64_t amount_minor;
	struct str reference; /* EndToEndId; no value: none was given */
	struct str bank_reference, booked_on, value_on;
	int64_t counterparty_id, general_ledger_id; /* 0: none */
	struct uid statement;
	struct uid settles; /* the action it reconciled; none: it is free */
};

/*
 * Entries with this EndToEndId, by rising id, at most max; found in the
 * context's arena.
 */
int statement_entries_by_reference(struct context *, struct str reference,
    size_t max, struct statement_entry **, size_t *n, struct err *);

/* One entry: 1, 0 no statement entry of this ledger, -1. */
int statement_entry_find(
    struct context *, struct uid, struct statement_entry *, struct err *);

/*
 * For the projection of the event that reconciles an action: the entry is no
 * longer free, and a statement with no free entry left turns "reconciled".
 * err_corrupt when there is no such free entry.
 */
int statement_entry_settle(
    struct db *, struct uid entry, struct uid action, struct err *);

/* A bank statement, imported whole or not at all. */
struct bank_statement {
	int64_t id;
	struct uid uid;
	struct str reference; /* the bank's Stmt/Id */
	struct str account, servicer;
	struct opt_int general_ledger_id, sequence;
	struct str from_on, to_on; /* dates of opening and closing balance */
	struct str currency;
	int64_t opening_minor, closing_minor, credit_minor, debit_minor;
	int64_t entries, open_entries;
	struct str status; /* imported, reconciled */
	struct uid import;
	struct digest_text sha256; /* of the imported file; erased: no value */
	struct instant imported_at, erased_at;
	struct opt_int erased_by_event;
};

/* Each member narrows; none, no value and not set do not. */
struct bank_statement_filter {
	int64_t limit, after_id;
	struct uid uid;
	struct str status;
	struct opt_int general_ledger_id;
	/* In the order of their identifiers instead, without another filter. */
	bool by_uid;
	struct uid after_uid;
};

/* The identifier of a number: 1, 0 there is none, -1. */
int bank_statement_uid(
    struct context *, int64_t id, struct uid *, struct err *);

/* By rising id, in the context's arena. */
int bank_statements_list(struct context *, const struct bank_statement_filter *,
    struct bank_statement **, size_t *n, bool *has_more, struct err *);

/* All but the last four characters replaced by "****". */
struct str bank_account_masked(struct arena *, struct str account);

/* What lineage calls a material: an imported file, as the ledger stores it, or
 * a sealed record. For imports the context's reading has to be begun. */
struct source_material {
	int64_t id;
	struct uid uid;
	struct digest_text sha256;
};

/* The import's stored file: 1, 0 no import of this ledger, -1. */
int source_import_find(
    struct context *, struct uid, struct source_material *, struct err *);

/*
 * Of what the first `size` events recorded, the imports or the sealed records
 * above after_id, by rising id; at most max, into `out`.
 */
int source_imports_list(struct context *, uint64_t size, int64_t after_id,
    size_t max, struct source_material *out, size_t *n, struct err *);
int source_seals_list(struct context *, uint64_t size, int64_t after_id,
    size_t max, struct source_material *out, size_t *n, struct err *);

/* What the ledger holds; kept by the projections, so the cost is flat. */
struct source_record_counts {
	int64_t obligations, entitlements, invoices, statement_entries;
	int64_t imports, bank_statements, bank_accounts;
	struct str statement_to; /* latest closing date; no value: none */
	struct instant imported_at;
};
int source_records_count(
    struct context *, struct source_record_counts *, struct err *);

#endif
