/*
 * Whether production is open: an approver opened it by signature and none has
 * closed it since. It is a fact of the production ledger; a sandbox has none,
 * and is never closed.
 */
#ifndef DOMAIN_PRODUCTION_H
#define DOMAIN_PRODUCTION_H

#include "domain/context.h"

/* 403: a live key while production is closed; and to operators, that none is
 * issued. */
extern const struct err_kind err_production_closed;

struct production_state {
	bool open;
	struct instant since;     /* of the last change; 0: there was none */
	struct uid approver;      /* who decided it */
	struct instant stated_at; /* when, as the statement says */
};

/* Closed and nothing else before the first opening, and in a sandbox. */
int production_read(struct context *, struct production_state *, struct err *);

/* Whether live actions may be taken: production, and open. */
int production_is_open(struct context *, bool *open, struct err *);

#endif
