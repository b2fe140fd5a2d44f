/*
 * Requests that this machine sends to others. For jobs of the worker only:
 * never while a turn is held, never while a request waits. A peer that is
 * slow, down or hostile costs at most the seconds and the bytes given here.
 * Redirects are not followed, the environment's proxies are not used,
 * certificates are checked against the system's authorities. Thread-safe.
 *
 *	struct outbound_request request = {
 *		.url = STR("https://tsa.example.com/"),
 *		.content_type = STR("application/timestamp-query"),
 *		.body = query,
 *		.max_reply = 65536,
 *		.seconds = 30,
 *	};
 *	if (outbound_post(&request, arena, &reply, e))
 *		return -1;
 */
#ifndef DOMAIN_OUTBOUND_H
#define DOMAIN_OUTBOUND_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

struct outbound_request {
	struct str url;
	struct str content_type;
	struct str body;
	size_t max_reply; /* bytes of the reply's body */
	long seconds;     /* for all of it: name, connection, reply */
};

struct outbound_reply {
	int status;              /* any; the caller judges it */
	struct str content_type; /* as sent, or no value */
	struct str body;
};

/* Whether it may be asked: https, or http at 127.0.0.1 or [::1]; a host, and
 * no user, password or fragment. err_invalid, with what is wrong. */
int outbound_check_url(struct str url, struct err *);

/* Sends a POST and takes the whole reply into the arena. err_invalid for a url
 * that may not be asked; err_unavailable for a peer that does not answer, not
 * in time, or with more than max_reply. */
int outbound_post(const struct outbound_request *, struct arena *,
    struct outbound_reply *, struct err *);

#endif
