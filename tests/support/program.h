/*
 * What another program says, for tests that hold ours against git and scripts.
 */
#ifndef TESTS_SUPPORT_PROGRAM_H
#define TESTS_SUPPORT_PROGRAM_H

#include "ledger/base/arena.h"

/* Standard output of a shell command, printf's format, at most 64 KiB, without
 * its last line ends; the test program ends when the command fails. */
__attribute__((format(printf, 2, 3))) char *program_output(
    struct arena *, const char *format, ...);

#endif
