/*
 * batch_read for the verifier, which also says which of its checks failed.
 */
#ifndef LEDGER_CHAIN_BATCH_CHECK_H
#define LEDGER_CHAIN_BATCH_CHECK_H

#include "ledger/chain/batch.h"

#define CHECK_REPOSITORY  "repository"
#define CHECK_COMMIT      "commit"
#define CHECK_SIGNERS     "signers"
#define CHECK_EVENT       "event"
#define CHECK_CHAIN       "chain"
#define CHECK_PAYLOAD     "payload"
#define CHECK_CHECKPOINT  "checkpoint"
#define CHECK_CONSISTENCY "consistency"
#define CHECK_INDEX       "index"

/* The bytes of the last allowed_signers, which hardly ever change. */
struct signers_cache {
	bool set;
	struct oid oid;
	struct buf bytes;
};

/* cache may be NULL. On -1 *check is CHECK_REPOSITORY when an object is
 * missing or torn, CHECK_COMMIT when the commit or its tree says something
 * wrong. */
int batch_read_checked(struct repo *, struct oid commit, struct arena *,
    struct signers_cache *, struct batch *, const char **check, struct err *);

/* "<origin> <<origin>> <seconds> +0000": author and committer of a batch whose
 * last event is of that time. */
void batch_add_identity(struct buf *, struct str origin, struct instant);

/* The first line of the message, without its LF. type and subject are those of
 * the first event. */
void batch_add_summary(struct buf *, struct str type, struct uid subject,
    uint64_t first_seq, size_t n);

/* commit_read, likewise. */
int commit_read_checked(struct repo *, struct oid, struct arena *,
    struct commit *, const char **check, struct err *);

/* payload_read; CHECK_REPOSITORY when the object is missing or torn,
 * CHECK_PAYLOAD when it holds something else. */
int payload_read_checked(struct repo *, struct oid, struct digest expect,
    size_t max, struct arena *, struct str *out, const char **check,
    struct err *);

#endif
