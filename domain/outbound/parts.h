/*
 * The steps of screening, each by itself: an address, a host's text, a name's
 * addresses.
 */
#ifndef DOMAIN_OUTBOUND_PARTS_H
#define DOMAIN_OUTBOUND_PARTS_H

#include "domain/outbound.h"

/* What is special about an address ("private", "loopback", …), or NULL when it
 * is one of the public internet. Family AF_INET with 4 bytes, AF_INET6 with 16;
 * any other is special. */
const char *address_special(int family, const void *bytes);
bool address_is_loopback(int family, const void *bytes);

enum host_kind { HOST_NAME, HOST_IPV4, HOST_IPV6 };

/*
 * The host of a URL in the one form that the WHATWG URL standard gives it:
 * percent-decoded, mapped by UTS 46, an IPv4 address in any notation as four
 * decimal numbers, an IPv6 address (in brackets) without them and shortened. A
 * name ends in no dot. Room for OUTBOUND_HOST_MAX + 1. err_invalid.
 */
int host_canonical(
    struct arena *, struct str raw, enum host_kind *, char *out, struct err *);

/* "host" or "host:port" with the host in canonical form; port 0 when there is
 * none. err_invalid. */
int authority_parse(struct arena *, struct str authority, enum host_kind *,
    char *host, int *port, struct err *);

/* The name in the rules' list: "host:port", brackets around IPv6. */
struct str authority_text(
    struct arena *, enum host_kind, const char *host, int port);

/* Adds an address, or refuses it: err_invalid. More than fit are screened as
 * well and left out. */
int screened_add(
    struct screened *, int family, const void *bytes, struct err *);

/* Whether the address is one that was added, and still passes. */
bool screened_has(const struct screened *, int family, const void *bytes);

/* Asks the rules' resolver for all addresses of screened.host and adds them. */
int screened_resolve(
    struct screened *, const struct outbound_rules *, struct err *);

#endif
