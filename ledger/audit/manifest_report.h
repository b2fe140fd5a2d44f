/*
 * What a manifest was found to show, for people and as JSON.
 */
#ifndef LEDGER_AUDIT_MANIFEST_REPORT_H
#define LEDGER_AUDIT_MANIFEST_REPORT_H

#include <stdio.h>

#include "ledger/chain/manifest.h"

void manifest_report_write(FILE *, const struct manifest_report *);
void manifest_report_write_json(FILE *, const struct manifest_report *);

#endif
