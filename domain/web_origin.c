#include "domain/web_origin.h"

#include <string.h>

/* Lower case: a name, an address, or an address in brackets. */
static bool
is_host(struct str s)
{
	bool brackets = s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']';

	if (brackets)
		s = str_slice(s, 1, s.n - 1);
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') &&
		    !(s.p[i] >= '0' && s.p[i] <= '9') &&
		    !strchr(brackets ? ":." : "-.", s.p[i]))
			return false;
	return s.n > 0;
}

static bool
is_port(struct str s, uint64_t implied)
{
	uint64_t port;

	return s.n > 0 && s.p[0] != '0' && str_to_u64(s, &port) &&
	       port <= 65535 && port != implied;
}

static bool
is_web_origin(struct str s)
{
	bool https = str_has_prefix(s, STR("https://"));
	size_t host_n;

	if (!https && !str_has_prefix(s, STR("http://")))
		return false;
	s = str_slice(s, https ? 8 : 7, s.n);
	host_n = s.n;
	for (size_t i = s.n; i > 0 && s.p[i - 1] != ']'; i--)
		if (s.p[i - 1] == ':')
			host_n = i - 1;
	if (host_n < s.n &&
	    !is_port(str_slice(s, host_n + 1, s.n), https ? 443 : 80))
		return false;
	return is_host(str_slice(s, 0, host_n));
}

const struct field_format format_web_origin = { "origin", NULL,
	"^https?://[^/]+$",
	"must be an exact origin such as https://app.example.com: no path, no "
	"default port, no *",
	is_web_origin };
