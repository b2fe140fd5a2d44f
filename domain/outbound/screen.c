#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "domain/outbound/parts.h"

#define SCHEME     "https://"
#define PORT_HTTPS 443
#define PORT_OTHER 8443
#define PORT_MAX   65535

/* A URL in its parts: authority, and what follows it. */
struct parts {
	struct str authority, rest;
};

static int
split(struct str url, struct parts *out, struct err *e)
{
	struct str scheme = STR(SCHEME);
	size_t end = scheme.n;

	if (url.n == 0 || url.n > OUTBOUND_URL_MAX)
		return err_set(e, &err_invalid, "a URL has 1 to %d characters",
		    OUTBOUND_URL_MAX);
	/* What some programs drop and others read as something else. */
	for (size_t i = 0; i < url.n; i++)
		if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 0x7f ||
		    strchr("\\\"<>^`{|}", url.p[i]))
			return err_set(e, &err_invalid,
			    "a URL has no space, control character or any of"
			    " \\ \" < > ^ ` { | }");
	if (url.n < scheme.n || strncasecmp(url.p, scheme.p, scheme.n) != 0)
		return err_set(
		    e, &err_invalid, "the URL must begin with " SCHEME);
	while (end < url.n && !strchr("/?#", url.p[end]))
		end++;
	out->authority = str_slice(url, scheme.n, end);
	out->rest = str_slice(url, end, url.n);
	return 0;
}

static int
check_parts(const struct parts *parts, struct err *e)
{
	if (str_find(parts->rest, '#') < parts->rest.n)
		return err_set(
		    e, &err_invalid, "the URL must have no fragment (#)");
	if (str_find(parts->authority, '@') < parts->authority.n)
		return err_set(e, &err_invalid,
		    "the URL must have no user or password (@)");
	for (size_t i = 0; i < parts->rest.n; i++)
		if ((unsigned char)parts->rest.p[i] > 0x7e)
			return err_set(e, &err_invalid,
			    "what follows the host must be ASCII: write other"
			    " characters as %%XX");
	return 0;
}

/* Where the host ends: at the last colon, behind the brackets. */
static size_t
host_length(struct str authority)
{
	size_t n = 0;

	if (authority.n > 0 && authority.p[0] == '[')
		n = str_find(authority, ']');
	while (n < authority.n && authority.p[n] != ':')
		n++;
	return n;
}

int
authority_parse(struct arena *a, struct str authority, enum host_kind *kind,
    char *host, int *port, struct err *e)
{
	size_t n = host_length(authority);
	struct str digits = str_slice(authority, n, authority.n);
	uint64_t number = 0;

	*port = 0;
	if (host_canonical(a, str_slice(authority, 0, n), kind, host, e))
		return -1;
	if (digits.n <= 1)
		return 0;
	if (!str_to_u64(str_slice(digits, 1, digits.n), &number) ||
	    number == 0 || number > PORT_MAX)
		return err_set(
		    e, &err_invalid, "a port is a number from 1 to 65535");
	*port = (int)number;
	return 0;
}

struct str
authority_text(struct arena *a, enum host_kind kind, const char *host, int port)
{
	bool brackets = kind == HOST_IPV6;

	return arena_strf(a, "%s%s%s:%d", brackets ? "[" : "", host,
	    brackets ? "]" : "", port);
}

static bool
is_allowed(const struct outbound_rules *rules, struct str authority)
{
	for (size_t i = 0; i < rules->n; i++)
		if (str_eq(rules->loopback_allowed[i], authority))
			return true;
	return false;
}

/* RFC 6761: names of this machine, whoever answers for them. */
static bool
is_local_name(const char *host)
{
	struct str name = str_from(host);

	return str_is(name, "localhost") ||
	       str_has_suffix(name, STR(".localhost"));
}

static int
check_host(const struct screened *s, enum host_kind kind, struct err *e)
{
	uint8_t bytes[16];
	int family = kind == HOST_IPV6 ? AF_INET6 : AF_INET;
	struct screened scratch = { .loopback = s->loopback };

	if (!s->loopback && s->port != PORT_HTTPS && s->port != PORT_OTHER)
		return err_set(e, &err_invalid,
		    "the URL's port must be %d or %d, not %d", PORT_HTTPS,
		    PORT_OTHER, s->port);
	if (kind == HOST_NAME)
		return s->loopback || !is_local_name(s->host)
			   ? 0
			   : err_set(e, &err_invalid,
				 "%s is a name of this machine, not of a"
				 " public one",
				 s->host);
	memcpy(scratch.host, s->host, sizeof scratch.host);
	if (inet_pton(family, s->host, bytes) != 1)
		return err_set(e, &err_internal, "%s is no address", s->host);
	return screened_add(&scratch, family, bytes, e);
}

static int
screen(struct arena *a, struct str url, const struct outbound_rules *rules,
    struct screened *out, enum host_kind *kind, struct err *e)
{
	struct str authority;
	struct parts parts;
	int n;

	*out = (struct screened){ 0 };
	if (split(url, &parts, e) || check_parts(&parts, e) ||
	    authority_parse(a, parts.authority, kind, out->host, &out->port, e))
		return -1;
	if (out->port == 0)
		out->port = PORT_HTTPS;
	authority = authority_text(a, *kind, out->host, out->port);
	out->loopback = is_allowed(rules, authority);
	if (out->loopback)
		out->ca = rules->ca;
	if (out->port == PORT_HTTPS)
		authority.n -= sizeof ":443" - 1;
	n = snprintf(out->url, sizeof out->url, SCHEME "%.*s%s%.*s",
	    STR_ARGS(authority),
	    parts.rest.n == 0 || parts.rest.p[0] != '/' ? "/" : "",
	    STR_ARGS(parts.rest));
	if (n < 0 || (size_t)n >= sizeof out->url)
		return err_set(e, &err_invalid, "the URL is too long");
	return check_host(out, *kind, e);
}

int
outbound_screen_form(struct str url, const struct outbound_rules *rules,
    struct screened *out, struct err *e)
{
	struct arena *a = arena_new();
	enum host_kind kind;
	int failed = screen(a, url, rules, out, &kind, e);

	arena_free(a);
	return failed;
}

int
outbound_screen_url(struct str url, const struct outbound_rules *rules,
    struct screened *out, struct err *e)
{
	uint8_t bytes[16];

	if (outbound_screen_form(url, rules, out, e))
		return -1;
	if (inet_pton(AF_INET, out->host, bytes) == 1)
		return screened_add(out, AF_INET, bytes, e);
	if (inet_pton(AF_INET6, out->host, bytes) == 1)
		return screened_add(out, AF_INET6, bytes, e);
	return screened_resolve(out, rules, e);
}
