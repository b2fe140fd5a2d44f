/*
 * What an evidence file was found to show, for people and as JSON.
 */
#ifndef LEDGER_AUDIT_PROOF_REPORT_H
#define LEDGER_AUDIT_PROOF_REPORT_H

#include <stdio.h>

#include "ledger/chain/evidence.h"

struct proof_report {
	bool good;
	bool pinned;        /* keys were given, none taken from the file */
	struct pinned keys; /* that were given */
	struct evidence_shown shown;
	const char *reason; /* not good: why shown.check failed */
};

void proof_report_write(FILE *, const struct proof_report *);
void proof_report_write_json(
    FILE *, struct arena *, const struct proof_report *);

#endif
