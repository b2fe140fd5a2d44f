/*
 * Sealed source records: imported obligations, entitlements, invoices and bank
 * statement entries, each sealed by the SHA-256 of its canonical bytes.
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
	int64_t amount_minor;
	int64_t counterparty_id;
	struct uid arrangement; /* none: it has none */
	struct str reference;
	struct uid import;
};

/* 1 found, 0 not in this ledger, -1. */
int source_record_find(
    struct context *, struct uid, struct source_record *, struct err *);

#endif
