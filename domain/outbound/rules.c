#include <arpa/inet.h>

#include "domain/outbound/parts.h"

#define ENTRIES_MAX 100

static bool
is_loopback_host(enum host_kind kind, const char *host)
{
	int family = kind == HOST_IPV6 ? AF_INET6 : AF_INET;
	uint8_t bytes[16];

	return inet_pton(family, host, bytes) == 1 &&
	       address_is_loopback(family, bytes);
}

static int
make_entry(struct arena *a, struct str text, struct str *out, struct err *e)
{
	char host[OUTBOUND_HOST_MAX + 1];
	struct err own = { 0 };
	enum host_kind kind;
	int port;

	if (authority_parse(a, text, &kind, host, &port, &own))
		return err_set(e, &err_invalid, "outbound_loopback: %.*s: %s",
		    STR_ARGS(text), own.detail);
	if (port == 0)
		return err_set(e, &err_invalid,
		    "outbound_loopback: %.*s has no port: write host:port",
		    STR_ARGS(text));
	if (kind != HOST_NAME && !is_loopback_host(kind, host))
		return err_set(e, &err_invalid,
		    "outbound_loopback: %.*s is not a loopback address",
		    STR_ARGS(text));
	*out = authority_text(a, kind, host, port);
	return 0;
}

static int
make_list(struct arena *a, struct str text, struct outbound_rules *rules,
    struct err *e)
{
	struct str *list = arena_array(a, ENTRIES_MAX, sizeof *list);

	rules->loopback_allowed = list;
	while (text.p) {
		struct str entry = str_take(&text, ' ');

		if (entry.n == 0)
			continue;
		if (rules->n == ENTRIES_MAX)
			return err_set(e, &err_invalid,
			    "outbound_loopback has more than %d entries",
			    ENTRIES_MAX);
		if (make_entry(a, entry, &list[rules->n], e))
			return -1;
		rules->n++;
	}
	return 0;
}

static int
check_resolver(struct arena *a, struct str text, struct err *e)
{
	char host[OUTBOUND_HOST_MAX + 1];
	enum host_kind kind;
	int port;

	if (text.n == 0)
		return 0;
	if (authority_parse(a, text, &kind, host, &port, NULL) ||
	    kind == HOST_NAME || port == 0)
		return err_set(e, &err_invalid,
		    "outbound_resolver: %.*s is not an address and a port, as"
		    " 127.0.0.1:53 or [::1]:53",
		    STR_ARGS(text));
	return 0;
}

int
outbound_rules_make(struct arena *a, struct str loopback, struct str resolver,
    struct str ca, struct outbound_rules *out, struct err *e)
{
	*out = (struct outbound_rules){ .resolver = resolver, .ca = ca };
	return make_list(a, loopback, out, e) || check_resolver(a, resolver, e)
		   ? -1
		   : 0;
}
