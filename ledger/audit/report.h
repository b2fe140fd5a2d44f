/*
 * The verdict of a verification, for people and as JSON.
 */
#ifndef LEDGER_AUDIT_REPORT_H
#define LEDGER_AUDIT_REPORT_H

#include <stdio.h>

#include "ledger/chain/verify.h"

void report_write(
    FILE *, const struct verify_report *, const struct verify_options *);
void report_write_json(
    FILE *, const struct verify_report *, const struct verify_options *);

#endif
