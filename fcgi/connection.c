#include "fcgi/connection.h"

#include <errno.h>
#include <fcgiapp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* The role of the protocol's section 6.2; the library has no name for it. */
#define ROLE_RESPONDER 1
/* How long a peer may leave a record half sent, or a reply not taken. */
#define PATIENCE_S 30

struct fastcgi {
	struct transport transport;
	FCGX_Request request;
};

int
connection_init(struct err *e)
{
	/* Else the library waits when it closes after a fault. */
	if (setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1) || FCGX_Init())
		return err_set(e, &err_internal, "libfcgi does not start");
	return 0;
}

void
connection_prepare(int fd)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int on = 1;

	/* The last two fail on unix sockets, which need neither. */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

enum connection_state
connection_state(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return CONNECTION_READY;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return CONNECTION_SILENT;
	return CONNECTION_OVER;
}

static struct fastcgi *
fastcgi_of(struct transport *t)
{
	return (struct fastcgi *)(void *)t; /* its first member */
}

static ssize_t
read_stdin(struct transport *t, void *out, size_t n)
{
	FCGX_Stream *in = fastcgi_of(t)->request.in;
	int got = FCGX_GetStr(out, (int)n, in);

	/* An abort, a closed connection and a broken record all end here. */
	return FCGX_GetError(in) ? -1 : got;
}

static bool
write_stdout(struct transport *t, struct str s)
{
	FCGX_Stream *out = fastcgi_of(t)->request.out;

	if (s.n == 0)
		return true;
	return FCGX_PutStr(s.p, (int)s.n, out) == (int)s.n &&
	       FCGX_GetError(out) == 0;
}

/* After the request's last record nothing more comes from a web server that
 * waits: it closes, or sends an abort, when its client has gone. */
static bool
is_present(struct transport *t)
{
	struct fastcgi *f = fastcgi_of(t);

	return FCGX_FFlush(f->request.out) == 0 &&
	       connection_state(f->request.ipcFd) == CONNECTION_SILENT;
}

bool
connection_serve(int fd, struct front *front, struct front_worker *worker)
{
	struct fastcgi f = { .transport = { .read = read_stdin,
				 .write = write_stdout,
				 .present = is_present } };
	bool keep, sent = false;

	/*
	 * With no socket to listen on, and a connection that is "kept", the
	 * library takes the next request of this connection or fails.
	 */
	FCGX_InitRequest(&f.request, -1, 0);
	f.request.ipcFd = fd;
	f.request.keepConnection = 1;
	if (FCGX_Accept_r(&f.request) < 0)
		return false;
	keep = f.request.keepConnection != 0;
	f.transport.params = (const char *const *)f.request.envp;
	if (f.request.role == ROLE_RESPONDER)
		sent = front_serve(front, worker, &f.transport);
	/* "Kept" again: unless something failed, closing is left to us. */
	f.request.keepConnection = 1;
	FCGX_Finish_r(&f.request);
	if (f.request.ipcFd < 0)
		return false;
	if (keep && sent)
		return true;
	close(fd);
	return false;
}
