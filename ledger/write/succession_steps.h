/*
 * The steps of a succession, for tests that stop between two of them.
 */
#ifndef LEDGER_WRITE_SUCCESSION_STEPS_H
#define LEDGER_WRITE_SUCCESSION_STEPS_H

#include "ledger/write/succession.h"

extern const size_t succession_steps;

/* The first n steps. */
int succession_run(const struct succession *, size_t n, struct err *);

#endif
