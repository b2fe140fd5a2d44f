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

/* Reads and parses the commit alone. */
int commit_read(struct repo *, struct oid, struct arena *, struct commit *,
    const char **check, struct err *);

#endif
