/*
 * The parts of a camt.053 document that are read as one tree each: amounts,
 * dates, balances and entries.
 */
#ifndef DOMAIN_SOURCE_RECORDS_CAMT053_ENTRY_H
#define DOMAIN_SOURCE_RECORDS_CAMT053_ENTRY_H

#include "domain/source_records/camt053.h"
#include "domain/source_records/xml.h"

/* Longest texts that are kept, in bytes. The file itself keeps the rest. */
#define CAMT053_ID_BYTES   140
#define CAMT053_TEXT_BYTES 500

/* Refuses with err_invalid, "statement <id>" before the words. */
__attribute__((format(printf, 3, 4))) int camt053_refuse(
    const struct camt053_statement *, struct err *, const char *fmt, ...);

/* A Bal element; the statement's currency is set by the first. Kinds other
 * than opening and closing booked balances are passed over. */
int camt053_read_balance(const struct xml *, const xmlNode *,
    struct camt053_statement *, struct err *);

/* A Ntry element, added to the statement and its sums, or counted as skipped.
 * The statement's currency is known. */
int camt053_read_entry(const struct xml *, const xmlNode *,
    struct camt053_statement *, struct err *);

#endif
