/*
 * A ledger's repository copied to a backup, and put back from one. Both are
 * verified whole before they are called good.
 */
#ifndef LEDGER_WRITE_BACKUP_H
#define LEDGER_WRITE_BACKUP_H

#include "ledger/chain/verify.h"
#include "ledger/store/copy.h"
#include "ledger/write/ledger.h"

/* Of the copy that was named, not of the ledger. */
extern const struct err_kind err_backup_unusable, err_backup_old;

struct backup_report {
	uint64_t commits;            /* copied this time */
	struct verify_report verify; /* of the copy, as a whole */
};

struct backup_watch {
	struct copy_progress copying;
	/* As in struct verify_options. */
	void (*verifying)(void *, uint64_t checked, uint64_t total);
	void *verifying_arg;
};

/*
 * Brings the bare repository at `to`, made if there is none, up to the ledger,
 * while it is in use, and verifies it against the checkpoint that it held
 * before. err_backup_unusable when something else is there, another ledger's
 * copy too, err_rolled_back when it holds another history or a longer one,
 * err_corrupt when it does not verify.
 */
int ledger_backup(const struct ledger_options *, const char *to,
    const struct backup_watch *, struct backup_report *, struct err *);

/*
 * Puts a backup in the place of a ledger that is gone, with the keys that are
 * there, and makes the read model. kept_note is a signed checkpoint that
 * somebody kept, or no value. Refused, and nothing is put there: err_conflict
 * when there is a ledger, err_invalid when the note is not the key's,
 * err_backup_unusable when it does not verify with the key, err_backup_old
 * when it is shorter than, or another than, what the note, a read model left
 * behind or the key's own count tell of.
 */
int ledger_restore(const struct ledger_options *, const char *from,
    struct str kept_note, const struct backup_watch *, struct backup_report *,
    struct err *);

#endif
