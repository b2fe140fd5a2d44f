/*
 * What `listen` and --listen say: "unix:/path[,mode=0660]", "host:port" or
 * "[address]:port". Reading it opens and resolves nothing, so that a
 * configuration is judged as the front will take it.
 */
#ifndef DOMAIN_LISTEN_H
#define DOMAIN_LISTEN_H

#include <sys/types.h>

#include "ledger/base/arena.h"
#include "ledger/base/err.h"
#include "ledger/base/str.h"

struct listen_spec {
	const char *path; /* of a unix socket; NULL: host and port count */
	mode_t mode;
	const char *host, *port; /* the address without its brackets */
};

/* What is read lives in the arena. err_usage, beginning with "listen: ". */
int listen_read(
    struct arena *, struct str text, struct listen_spec *, struct err *);

#endif
