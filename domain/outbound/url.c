/*
 * An operator's URL. Every program looks at its configuration when it starts,
 * so this does without libcurl, which takes longer to load than all the rest;
 * and passes only what has one reading, so libcurl's is the same.
 */
#include <ctype.h>
#include <string.h>

#include "domain/outbound.h"

#define PORT_MAX 65535

static bool
is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~' ||
		    strchr("\\\"<>^`{|}", s.p[i]))
			return false;
	return true;
}

/* A name or an IPv4 address, or an IPv6 address in its brackets. */
static bool
is_host(struct str s)
{
	bool brackets = s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']';

	if (brackets)
		s = str_slice(s, 1, s.n - 1);
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) &&
		    !strchr(brackets ? ":." : "-._", s.p[i]))
			return false;
	return s.n > 0;
}

/* What follows the host: nothing, or a colon and a number. */
static bool
is_port(struct str s)
{
	uint64_t port;

	return s.n == 0 || (str_to_u64(str_slice(s, 1, s.n), &port) &&
			       port > 0 && port <= PORT_MAX);
}

/* Where the host ends: at the last colon, behind the brackets. */
static size_t
host_length(struct str authority)
{
	size_t n = authority.n;

	while (n > 0 && authority.p[n - 1] != ':' && authority.p[n - 1] != ']')
		n--;
	return n > 0 && authority.p[n - 1] == ':' ? n - 1 : authority.n;
}

static struct str
authority_of(struct str rest)
{
	size_t n = 0;

	while (n < rest.n && !strchr("/?#", rest.p[n]))
		n++;
	return str_slice(rest, 0, n);
}

/* Without a certificate only this machine is who it seems to be. */
static bool
is_private_enough(bool https, struct str host)
{
	return https || str_is(host, "127.0.0.1") || str_is(host, "[::1]");
}

static int
check(struct str url, bool https, struct err *e)
{
	struct str rest = str_slice(url, https ? 8 : 7, url.n);
	struct str authority = authority_of(rest);
	size_t n = host_length(authority);
	struct str host = str_slice(authority, 0, n);

	if (str_find(authority, '@') < authority.n ||
	    str_find(rest, '#') < rest.n)
		return err_set(e, &err_invalid,
		    "the URL must have no user, password or fragment");
	if (!is_host(host) || !is_port(str_slice(authority, n, authority.n)))
		return err_set(e, &err_invalid,
		    "%.*s has no host, or none of letters, digits, dots and"
		    " hyphens and a port from 1 to 65535",
		    STR_ARGS(url));
	if (!is_private_enough(https, host))
		return err_set(e, &err_invalid,
		    "%.*s must begin with https://, or with http:// at"
		    " 127.0.0.1 or [::1]",
		    STR_ARGS(url));
	return 0;
}

int
outbound_check_url(struct str url, struct err *e)
{
	bool https = str_has_prefix(url, STR("https://"));

	if (url.n == 0 || url.n > OUTBOUND_URL_MAX)
		return err_set(e, &err_invalid, "a URL has 1 to %d characters",
		    OUTBOUND_URL_MAX);
	if (!is_plain(url))
		return err_set(e, &err_invalid,
		    "a URL is of ASCII, without spaces and any of"
		    " \\ \" < > ^ ` { | }: write others as %%XX, a name as"
		    " xn--…");
	if (!https && !str_has_prefix(url, STR("http://")))
		return err_set(e, &err_invalid,
		    "%.*s must begin with https://, or with http:// at"
		    " 127.0.0.1 or [::1]",
		    STR_ARGS(url));
	return check(url, https, e);
}
