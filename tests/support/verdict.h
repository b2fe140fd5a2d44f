/*
 * Verifying a small ledger in a test: the expected verdict or the end of it.
 */
#ifndef TESTS_SUPPORT_VERDICT_H
#define TESTS_SUPPORT_VERDICT_H

#include "ledger/chain/verify.h"
#include "tests/support/small_ledger.h"

struct verify_report verify_with(
    struct small_ledger *, const struct verify_options *);

/* Everything, with the ledger's own key. */
struct verify_report verify_full(struct small_ledger *);

void assert_good(const struct verify_report *);

/* The check, the seq, and a part of the reason. */
void assert_bad(const struct verify_report *, const char *check, uint64_t seq,
    const char *reason);

/* Event 0; 1 to 3; 4 and 5 with payloads; 6; 7 to 9. */
struct small_ledger *make_ledger(void);

#endif
