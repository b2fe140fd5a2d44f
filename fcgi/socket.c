#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fcgi/server.h"
#include "ledger/base/log.h"

#define BACKLOG             1024
#define SYSTEMD_FIRST_FD    3
#define SOCKET_MODE_DEFAULT 0660

static bool
is_listening(int fd)
{
	int on = 0;
	socklen_t n = sizeof on;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) == 0 && on;
}

/* sd_listen_fds(3): the first descriptor, if they are meant for us. */
static int
systemd_socket(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t p = 0, n = 0;

	if (!pid || !fds || !str_to_u64(str_from(pid), &p) ||
	    !str_to_u64(str_from(fds), &n) || p != (uint64_t)getpid() ||
	    n < 1 || !is_listening(SYSTEMD_FIRST_FD))
		return -1;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	return SYSTEMD_FIRST_FD;
}

/* A socket file that nobody listens on is left from a process that died. */
static int
remove_stale(const struct sockaddr_un *address, struct err *e)
{
	const char *path = address->sun_path;
	struct stat st;
	int fd, rc;

	if (lstat(path, &st))
		return errno == ENOENT ? 0
				       : err_errno(e, &err_unavailable,
					     "cannot look at %s", path);
	if (!S_ISSOCK(st.st_mode))
		return err_set(
		    e, &err_unavailable, "%s is there and no socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(e, &err_unavailable, "no socket");
	rc = connect(fd, (const struct sockaddr *)(const void *)address,
	    sizeof *address);
	close(fd);
	if (rc == 0)
		return err_set(
		    e, &err_unavailable, "another process listens on %s", path);
	if (unlink(path) && errno != ENOENT)
		return err_errno(e, &err_unavailable, "cannot remove %s", path);
	return 0;
}

/* "/path" or "/path,mode=0660". */
static int
read_unix_spec(struct arena *a, struct str spec, const char **path,
    mode_t *mode, struct err *e)
{
	struct str option = spec, name = str_take(&option, ',');

	*mode = SOCKET_MODE_DEFAULT;
	*path = arena_cstr(a, name);
	if (name.n == 0)
		return err_set(e, &err_usage, "listen: unix: needs a path");
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
open_unix(struct arena *a, struct str spec, struct listener *out, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path;
	mode_t mode, mask;
	int fd, failed;

	if (read_unix_spec(a, spec, &path, &mode, e))
		return -1;
	if (strlen(path) >= sizeof address.sun_path)
		return err_set(e, &err_usage, "listen: the path is too long");
	memcpy(address.sun_path, path, strlen(path));
	if (remove_stale(&address, e))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(e, &err_unavailable, "no socket");
	/* Never open to more than it ends with. */
	mask = umask((mode_t)~mode & 0777);
	failed = bind(fd, (const struct sockaddr *)(const void *)&address,
	    sizeof address);
	umask(mask);
	if (failed || listen(fd, BACKLOG)) {
		err_errno(e, &err_unavailable, "cannot listen on %s", path);
		close(fd);
		return -1;
	}
	*out = (struct listener){ .fd = fd, .own = true, .path = path };
	return 0;
}

static int
listen_on(const struct addrinfo *info)
{
	int on = 1;
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	close(fd);
	return -1;
}

/* "host:port" or "[address]:port". */
static int
open_tcp(struct arena *a, struct str spec, struct listener *out, struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *info;
	struct str host, port;
	size_t colon = spec.n;

	while (colon > 0 && spec.p[colon - 1] != ':')
		colon--;
	if (colon < 2 || colon == spec.n)
		return err_set(e, &err_usage,
		    "listen: \"%.*s\" is neither unix:/path nor host:port",
		    STR_ARGS(spec));
	host = str_slice(spec, 0, colon - 1);
	port = str_slice(spec, colon, spec.n);
	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = str_slice(host, 1, host.n - 1);
	if (getaddrinfo(
		arena_cstr(a, host), arena_cstr(a, port), &hints, &info))
		return err_set(
		    e, &err_usage, "listen: no address %.*s", STR_ARGS(spec));
	*out = (struct listener){ .fd = listen_on(info), .own = true };
	if (out->fd < 0)
		err_errno(e, &err_unavailable, "cannot listen on %.*s",
		    STR_ARGS(spec));
	freeaddrinfo(info);
	return out->fd < 0 ? -1 : 0;
}

static int
set_flags(struct listener *l, struct err *e)
{
	int flags = fcntl(l->fd, F_GETFL);

	/* Threads take turns at accepting; none may be left blocked in it. */
	if (flags < 0 || fcntl(l->fd, F_SETFL, flags | O_NONBLOCK) ||
	    fcntl(l->fd, F_SETFD, FD_CLOEXEC)) {
		err_errno(e, &err_unavailable, "the socket takes no flags");
		listener_close(l);
		return -1;
	}
	return 0;
}

static int
open_spec(struct arena *a, struct str spec, struct listener *out, struct err *e)
{
	if (str_has_prefix(spec, STR("unix:")))
		return open_unix(a, str_slice(spec, 5, spec.n), out, e);
	return open_tcp(a, spec, out, e);
}

int
listener_open(struct arena *a, struct str spec, bool forced,
    struct listener *out, struct err *e)
{
	*out = (struct listener){ .fd = -1 };
	if (!forced) {
		out->fd = systemd_socket();
		if (out->fd < 0 && is_listening(STDIN_FILENO))
			out->fd = STDIN_FILENO;
		if (out->fd < 0 && getenv("REQUEST_METHOD"))
			return 0;
	}
	if (out->fd < 0 && spec.n == 0)
		return err_set(e, &err_usage,
		    "no socket: start it from a web server, or give --listen");
	if (out->fd < 0 && open_spec(a, spec, out, e))
		return -1;
	return set_flags(out, e);
}

void
listener_close(struct listener *l)
{
	if (l->fd < 0)
		return;
	close(l->fd);
	if (l->own && l->path)
		unlink(l->path);
	l->fd = -1;
}
