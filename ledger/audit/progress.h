/*
 * A progress bar on standard error, if that is a terminal.
 */
#ifndef LEDGER_AUDIT_PROGRESS_H
#define LEDGER_AUDIT_PROGRESS_H

#include <stdint.h>

/* For verify_options.progress. */
void progress_show(void *unused, uint64_t done, uint64_t total);

/* The same for anything else that is counted. */
void progress_show_what(
    void *unused, const char *what, uint64_t done, uint64_t total);

/* Wipes the line. */
void progress_end(void);

#endif
