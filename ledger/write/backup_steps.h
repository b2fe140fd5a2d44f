/*
 * The steps that backing up and putting back have in common.
 */
#ifndef LEDGER_WRITE_BACKUP_STEPS_H
#define LEDGER_WRITE_BACKUP_STEPS_H

#include "ledger/write/backup.h"

/* Through connections of its own: nothing here waits for a writer. */
int backup_copy(const char *from, const char *to, const struct backup_watch *,
    uint64_t *commits, struct err *);

/* err_rolled_back when it is not the kept checkpoint's history, err_corrupt.
 * `kept` may be NULL; err_malformed when `note`, which may be NULL too, is not
 * signed by a key of the ledger. Quick: not each event's signature. */
int backup_verify(const char *path, struct public_key,
    const struct checkpoint *kept, const struct note *note, bool quick,
    const struct backup_watch *, struct verify_report *, struct err *);

/* As restore tells what is wrong with the copy at `path`, backup of what is
 * there before it is begun. Returns -1. */
int backup_refuse(const char *path, const struct err *why, struct err *e);

#endif
