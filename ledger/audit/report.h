/*
 * The verdict of a verification, for people and as JSON.
 */
#ifndef LEDGER_AUDIT_REPORT_H
#define LEDGER_AUDIT_REPORT_H

#include <stdio.h>

#include "ledger/audit/older.h"

void report_write(FILE *, const struct verify_report *,
    const struct verify_options *, const struct older_ledgers *);
void report_write_json(FILE *, const struct verify_report *,
    const struct verify_options *, const struct older_ledgers *);

#endif
