/*
 * Whose signature an event has, for one who knows some of the ledger's keys.
 */
#ifndef LEDGER_AUDIT_SHOW_SIGNATURE_H
#define LEDGER_AUDIT_SHOW_SIGNATURE_H

#include "ledger/audit/audit.h"

struct show_signature {
	const char *verdict; /* "good", "bad", "missing"; NULL: no key given */
	bool followed;       /* good, by a key that those given lead to */
	char reason[512];    /* missing: why; else empty */
};

/*
 * By one of the keys, or by the one that was in force at the event: the changes
 * from a key given to that are followed in the repository, which has to be good
 * for it.
 */
int show_signature(struct show_signature *, const char *repo,
    const struct pinned *, const struct batch_line *, const struct event *,
    struct err *);

#endif
