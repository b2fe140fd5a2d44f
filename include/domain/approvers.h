/*
 * Approvers: people who decide by their own SSH key. A decision is a statement,
 * canonical JSON that says what is decided, and its signature (SSHSIG) in the
 * namespace "probity-approval", made where the private key is:
 *
 *	ssh-keygen -Y sign -n probity-approval -f KEY STATEMENT
 *
 * Statement and signature go into the event of what was decided, so whoever
 * has the event and the person's public key verifies the decision with
 * `ssh-keygen -Y verify`, without this program.
 */
#ifndef DOMAIN_APPROVERS_H
#define DOMAIN_APPROVERS_H

#include "domain/context.h"
#include "ledger/crypto/ed25519.h"

#define APPROVAL_NAMESPACE "probity-approval"
#define STATEMENT_MAX      4096 /* bytes */

/* What an approver may be registered to decide. */
#define APPROVER_ACTION     "action"
#define APPROVER_PRODUCTION "production"
#define APPROVER_PROMOTION  "promotion"
#define APPROVER_DELEGATION "delegation"
#define APPROVER_HOLD       "hold"

/*
 * While deciding: whether an approver of this ledger, by uid or by name, active
 * and in that role, signed exactly this statement; and that the statement is
 * for this ledger and of now: "at" at most a day ago, and not in the future by
 * more than clocks differ. Fills the approver's uid; err_invalid names the
 * fields approver, statement and signature of the request.
 *
 * What the statement decides, and that it is not used a second time, the
 * caller judges.
 */
int approver_verify(struct context *, struct str approver, const char *role,
    struct str statement, struct str signature, struct uid *out, struct err *);

/* The approver's key as an OpenSSH line, for the event of the decision. */
int approver_public_key(
    struct context *, struct uid, struct str *out, struct err *);

#endif
