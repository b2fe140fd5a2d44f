/*
 * Whether a ledger is the one that another says it continues
 * (docs/ledger-format.md, "Closing and continuing").
 */
#ifndef LEDGER_CHAIN_CONTINUITY_H
#define LEDGER_CHAIN_CONTINUITY_H

#include "ledger/chain/verify.h"

#define CHECK_SUCCESSION "succession"

/*
 * Verifies the closed ledger at `old_path` whole, and that its last event is
 * ledger.closed with the name of the newer ledger, whose good report is given
 * and whose event 0 must name the closed one's origin, size, root and head.
 *
 * The options' key pins the closed ledger. With own_key its event 0 gives the
 * key: that is as good, since the newer ledger's event 0 vouches for every
 * event of the closed one by its root.
 *
 * *old is the closed ledger's report: what fails between the two is the check
 * "succession". -1 only when the verification could not be carried out.
 */
int verify_continued(const char *old_path, const struct verify_options *,
    const struct verify_report *newer, struct verify_report *old, struct err *);

#endif
