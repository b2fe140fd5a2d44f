/*
 * Bank statements of ISO 20022, camt.053.001.02 and its later versions: the
 * figures that a ledger needs, in exact minor units, checked against each
 * other. No I/O.
 *
 * The document must be UTF-8. A document type declaration is refused, so there
 * are no entities to expand and nothing outside the file to fetch; the parser
 * is told not to use the network either. One entry at a time is held as a
 * tree. Strings live in the arena, white space within them is one space.
 */
#ifndef DOMAIN_SOURCE_RECORDS_CAMT053_H
#define DOMAIN_SOURCE_RECORDS_CAMT053_H

#include "domain/money.h"
#include "ledger/base/instant.h"

#define CAMT053_BYTES      (16u << 20)
#define CAMT053_STATEMENTS 64
#define CAMT053_ENTRIES    10000 /* booked, in all statements of a file */

struct camt053_entry {
	int64_t minor; /* above zero */
	bool debit;
	bool reversal;
	struct str booked_on, value_on; /* YYYY-MM-DD; no value */
	/* Any of them may have no value. "NOTPROVIDED" is no value. The
	 * end-to-end id and the counterparty are those of the entry's only
	 * transaction; a batch of several has none. */
	struct str end_to_end, bank_reference, entry_reference;
	struct str counterparty_name, counterparty_account;
	struct str remittance;
	int64_t transactions; /* that the entry details; 0: no details */
	struct camt053_entry *next;
};

struct camt053_balance {
	bool set;
	int64_t minor; /* below zero: a debit balance */
	struct str on;
};

struct camt053_statement {
	struct str id, account, servicer;
	int64_t sequence; /* -1: none */
	const struct currency *currency;
	struct camt053_balance opening, closing;
	int64_t credit_minor, debit_minor;
	struct camt053_entry *entries, *last;
	size_t n_entries;
	size_t skipped; /* entries that are not booked: pending, information */
	struct camt053_statement *next;
};

struct camt053 {
	struct str version; /* "08" */
	struct camt053_statement *statements;
	size_t n_statements;
	size_t n_entries;
};

/*
 * Reads and checks: err_malformed for what is not well-formed XML or not a
 * camt.053 document, err_too_large beyond the limits above, err_invalid when a
 * value is missing or wrong, when an amount is in another currency than its
 * account, or when opening balance and booked entries do not give the closing
 * balance (the detail names statement and difference).
 */
int camt053_parse(
    struct arena *, struct str bytes, struct camt053 *, struct err *);

#endif
