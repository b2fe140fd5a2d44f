#ifndef DOMAIN_PRODUCTION_GROUP_H
#define DOMAIN_PRODUCTION_GROUP_H

#include "domain/operation.h"

extern const struct operation op_production_open, op_production_close,
    op_production_statement, op_production_show;

/* What a statement must decide. */
#define DECIDES_OPEN  "open_production"
#define DECIDES_CLOSE "close_production"

/* The statement of an approver: the canonical form of these members. */
struct production_statement {
	struct instant at;
	struct str decision, ledger, reason, workspace;
};
extern const struct shape production_statement_shape;

/* err_conflict in a sandbox, which has nothing to open. */
int production_check_place(const struct context *, struct err *);

#endif
