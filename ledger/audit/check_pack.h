/*
 * check-proof for a git pack: one batch, shown by itself.
 */
#ifndef LEDGER_AUDIT_CHECK_PACK_H
#define LEDGER_AUDIT_CHECK_PACK_H

#include "ledger/audit/audit.h"

/* Whether the file begins as a pack does. */
bool check_pack_is_one(const char *path);

/* Checks it, prints the verdict, and returns the exit status. There may be no
 * keys. */
int check_pack(const char *path, const struct key_options *, bool json);

#endif
