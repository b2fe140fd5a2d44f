/*
 * A transport that gives what it was handed and keeps what it is told, for
 * tests.
 */
#ifndef SUPPORT_CANNED_TRANSPORT_H
#define SUPPORT_CANNED_TRANSPORT_H

#include "fcgi/transport.h"
#include "ledger/base/buf.h"

struct canned {
	struct transport transport;
	struct str body;
	size_t piece;     /* bytes a read gives at most */
	bool aborts;      /* after the body, the client is gone */
	struct buf reply; /* to be freed by canned_fini */
};

void canned_init(struct canned *, const char *const *params, struct str body);
void canned_fini(struct canned *);

#endif
