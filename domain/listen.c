#include "domain/listen.h"

#include <sys/un.h>

#define MODE_DEFAULT 0660
#define PORT_MAX     65535
#define PATH_ROOM    sizeof((struct sockaddr_un *)0)->sun_path

/* "mode=0660"; no value: the default. */
static int
read_mode(struct str option, mode_t *mode, struct err *e)
{
	*mode = MODE_DEFAULT;
	if (!option.p)
		return 0;
	if (!str_has_prefix(option, STR("mode=")) || option.n < 8 ||
	    option.n > 9)
		return err_set(e, &err_usage,
		    "listen: only mode=0660 or the like follows the path");
	*mode = 0;
	for (size_t i = 5; i < option.n; i++) {
		if (option.p[i] < '0' || option.p[i] > '7')
			return err_set(
			    e, &err_usage, "listen: the mode is not octal");
		*mode = *mode * 8 + (mode_t)(option.p[i] - '0');
	}
	return *mode > 0777
		   ? err_set(e, &err_usage, "listen: the mode is over 0777")
		   : 0;
}

static int
read_unix(
    struct arena *a, struct str text, struct listen_spec *out, struct err *e)
{
	struct str option = text, path = str_take(&option, ',');

	if (path.n == 0 || path.p[0] != '/')
		return err_set(
		    e, &err_usage, "listen: unix: needs an absolute path");
	if (path.n >= PATH_ROOM)
		return err_set(e, &err_usage,
		    "listen: the path is longer than %zu bytes", PATH_ROOM - 1);
	out->path = arena_cstr(a, path);
	return read_mode(option, &out->mode, e);
}

static int
read_tcp(
    struct arena *a, struct str text, struct listen_spec *out, struct err *e)
{
	size_t colon = text.n;
	struct str host;
	uint64_t port;

	while (colon > 0 && text.p[colon - 1] != ':')
		colon--;
	if (colon < 2 || colon == text.n)
		return err_set(e, &err_usage,
		    "listen: \"%.*s\" is neither unix:/path nor host:port",
		    STR_ARGS(text));
	host = str_slice(text, 0, colon - 1);
	if (!str_to_u64(str_slice(text, colon, text.n), &port) || port == 0 ||
	    port > PORT_MAX)
		return err_set(e, &err_usage,
		    "listen: the port must be a number from 1 to %d", PORT_MAX);
	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = str_slice(host, 1, host.n - 1);
	out->host = arena_cstr(a, host);
	out->port = arena_printf(a, "%u", (unsigned)port);
	return 0;
}

int
listen_read(
    struct arena *a, struct str text, struct listen_spec *out, struct err *e)
{
	*out = (struct listen_spec){ 0 };
	if (str_has_prefix(text, STR("unix:")))
		return read_unix(a, str_slice(text, 5, text.n), out, e);
	return read_tcp(a, text, out, e);
}
