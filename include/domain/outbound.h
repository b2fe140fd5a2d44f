/*
 * Requests that this machine sends to others. Never while a turn is held. A
 * peer that is slow, down or hostile costs at most the seconds and the bytes
 * given here. Redirects are not followed, the environment's proxies are not
 * used, certificates are checked against the system's authorities. Thread-safe.
 *
 * An operator's URL is asked as it is configured. A client's goes through
 * outbound_screen_url first, at each attempt anew, and only to the addresses
 * that were screened: what its name means a moment later does not matter.
 *
 *	struct screened screened;
 *
 *	if (outbound_screen_url(url, &rules, &screened, e))
 *		return -1;
 *	request = (struct outbound_request){
 *		.screened = &screened,
 *		.content_type = STR("application/json"),
 *		.body = body,
 *		.max_reply = 4096,
 *		.seconds = 15,
 *	};
 *	if (outbound_post(&request, arena, &reply, e))
 *		return -1;
 */
#ifndef DOMAIN_OUTBOUND_H
#define DOMAIN_OUTBOUND_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

#define OUTBOUND_URL_MAX       1000
#define OUTBOUND_HOST_MAX      253
#define OUTBOUND_ADDRESSES_MAX 16
#define OUTBOUND_ADDRESS_MAX   45 /* of an IPv6 address, as text */

/*
 * What an operator settles for clients' URLs. All zero is the strictest: no
 * loopback, the system's resolver and authorities. Read-only while in use.
 */
struct outbound_rules {
	const struct str *loopback_allowed; /* "host:port", canonical */
	size_t n;
	struct str resolver; /* "address:port" of a DNS server; empty: the
				system's */
	struct str ca; /* PEM file that an allowed loopback's certificate must
			  lead to; empty: the system's */
};

/*
 * The rules of three settings, as the configuration has them: `loopback` is
 * host:port with spaces between. err_invalid, beginning with the name of the
 * setting. What is made lives in the arena.
 */
int outbound_rules_make(struct arena *, struct str loopback,
    struct str resolver, struct str ca, struct outbound_rules *, struct err *);

/* A URL that may be asked, in canonical form, with every address it may be
 * asked at. A value; only `ca` is borrowed, from the rules. */
struct screened {
	char url[OUTBOUND_URL_MAX + 1];
	char host[OUTBOUND_HOST_MAX + 1]; /* no brackets */
	int port;
	bool loopback; /* allowed by the operator; never so otherwise */
	struct str ca;
	size_t n_addresses;
	char addresses[OUTBOUND_ADDRESSES_MAX][OUTBOUND_ADDRESS_MAX + 1];
};

/*
 * Form alone, without asking anybody: https, a host as the URL standard reads
 * it, no user, password or fragment, port 443 or 8443 unless host and port are
 * allowed by the rules, and no address that is not public. err_invalid, with
 * what is wrong and no word of the URL but its host. No address is filled in.
 */
int outbound_screen_form(struct str url, const struct outbound_rules *,
    struct screened *, struct err *);

/*
 * outbound_screen_form, then resolves the host, in at most five seconds, and
 * screens each address: one that is not public refuses the whole. err_invalid
 * with the reason; err_unavailable when the name's servers do not answer.
 */
int outbound_screen_url(struct str url, const struct outbound_rules *,
    struct screened *, struct err *);

/* A header field; neither name nor value has a line's end. */
struct outbound_header {
	const char *name;
	struct str value;
};

struct outbound_request {
	struct str url; /* an operator's; not read when screened is there */
	const struct screened *screened;
	struct str content_type;
	const struct outbound_header *headers; /* further ones */
	size_t n_headers;
	struct str body;
	size_t max_reply; /* bytes of the reply's body */
	bool cut_reply;   /* a longer one is cut there, and no error */
	long seconds;     /* for all of it: name, connection, reply */
};

struct outbound_reply {
	int status;              /* any; the caller judges it */
	struct str content_type; /* as sent, or no value */
	struct str body;
	int64_t retry_after_s; /* from now, of Retry-After; 0: none */
	int64_t duration_ms;
};

/* Whether an operator's may be asked: https, or http at 127.0.0.1 or [::1]; a
 * host, and no user, password or fragment. err_invalid, with what is wrong. */
int outbound_check_url(struct str url, struct err *);

/* Sends a POST and takes the whole reply into the arena. err_invalid for a url
 * that may not be asked; err_unavailable for a peer that does not answer, not
 * in time, or with more than max_reply. */
int outbound_post(const struct outbound_request *, struct arena *,
    struct outbound_reply *, struct err *);

#endif
