/*
 * What a loss of power may do to the files of a ledger that is closed:
 * everything that was written since the last sync of the filesystem may be
 * there, or torn, or gone. Contracts: journal.h says what was synced.
 */
#ifndef TESTS_SUPPORT_POWER_H
#define TESTS_SUPPORT_POWER_H

#include "tests/support/toy.h"

/* Damages at random (drand48) and lets another boot of the machine begin. */
void power_loss(const struct toy *);

#endif
