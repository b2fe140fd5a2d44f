#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "domain/listen.h"
#include "fcgi/server.h"
#include "ledger/base/log.h"

#define BACKLOG          1024
#define SYSTEMD_FIRST_FD 3

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

static int
open_unix(const struct listen_spec *spec, struct listener *out, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = spec->path;
	int fd, failed;
	mode_t mask;

	assert(strlen(path) < sizeof address.sun_path);
	memcpy(address.sun_path, path, strlen(path));
	if (remove_stale(&address, e))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(e, &err_unavailable, "no socket");
	/* Never open to more than it ends with. */
	mask = umask((mode_t)~spec->mode & 0777);
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

static int
open_tcp(const struct listen_spec *spec, struct listener *out, struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *info;

	if (getaddrinfo(spec->host, spec->port, &hints, &info))
		return err_set(
		    e, &err_usage, "listen: no address %s", spec->host);
	*out = (struct listener){ .fd = listen_on(info), .own = true };
	if (out->fd < 0)
		err_errno(e, &err_unavailable, "cannot listen on %s, port %s",
		    spec->host, spec->port);
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
	struct listen_spec read;

	if (listen_read(a, spec, &read, e))
		return -1;
	return read.path ? open_unix(&read, out, e) : open_tcp(&read, out, e);
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
