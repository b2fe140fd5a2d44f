/*
 * What a list was found to be, for people and as JSON.
 */
#ifndef LEDGER_AUDIT_COMPLETE_REPORT_H
#define LEDGER_AUDIT_COMPLETE_REPORT_H

#include <stdio.h>

#include "ledger/audit/complete.h"

struct complete_verdict {
	bool good;
	struct complete_shown shown; /* of a good one */
	struct complete_fault fault;
	const char *reason;
};

void complete_report_write(
    FILE *, struct arena *, const struct complete_verdict *);
void complete_report_write_json(
    FILE *, struct arena *, const struct complete_verdict *);

#endif
