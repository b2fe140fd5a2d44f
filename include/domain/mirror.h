/*
 * A ledger's branch brought to another repository, by stock git: without
 * force, so that a remote which holds anything else refuses it. For the worker
 * and for operators; never while a turn is held.
 */
#ifndef DOMAIN_MIRROR_H
#define DOMAIN_MIRROR_H

#include "domain/service.h"

#define MIRROR_URL_MAX 1000

/* The remote has commits that are not the ledger's. */
extern const struct err_kind err_mirror_differs;

struct mirror_push {
	uint64_t size; /* events that the remote now holds, at least */
	struct oid commit;
};

/* Whether it may be pushed to: an absolute path, or a URL of ssh or https
 * without a password. err_invalid, with what is wrong. */
int mirror_check(struct str to, struct err *);

/*
 * Pushes the newest commit, within mirror_seconds. err_mirror_differs,
 * err_invalid, err_not_found without git or without the ledger,
 * err_unavailable for a remote that does not take it. What the remote said goes
 * to the log, not into the error.
 */
int mirror_push(struct service *, const struct place *, struct str to,
    struct arena *, struct mirror_push *, struct err *);

/*
 * Brings the branch of somebody's repository into the bare one at `into`, made
 * for that, within clone_seconds. Errors as of mirror_push. What comes is
 * nobody's word for anything: it is to be verified.
 */
int mirror_fetch(struct service *, const struct place *, struct str from,
    const char *into, struct arena *, struct err *);

#endif
