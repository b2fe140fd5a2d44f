/*
 * Sockets and processes: how probity.fcgi comes by its requests.
 *
 * FastCGI: threads wait together for connections. A connection is read only
 * when something has come on it, and one that the web server keeps open
 * (FCGI_KEEP_CONN) goes back to waiting after its reply, so neither a silent
 * nor an idle connection holds a thread.
 *
 * Whoever may connect to the socket is the web server: FastCGI knows no
 * credential of its own, and libfcgi trusts the record stream. Guard a unix
 * socket by its mode, and listen on loopback only.
 */
#ifndef FCGI_SERVER_H
#define FCGI_SERVER_H

#include "fcgi/front.h"

/* Where the requests come from. */
struct listener {
	int fd;           /* listening socket; -1: plain CGI */
	bool own;         /* opened here: closed, and unlinked, at the end */
	const char *path; /* of an own unix socket, or NULL */
};

/*
 * An inherited socket goes first, then plain CGI, then the one in spec:
 * "unix:/path[,mode=0660]", "host:port", "[address]:port". With `forced`, spec
 * alone counts. err_usage, err_unavailable.
 */
int listener_open(struct arena *, struct str spec, bool forced,
    struct listener *, struct err *);
void listener_close(struct listener *);

/*
 * Serves until SIGTERM, SIGINT or SIGUSR1; then finishes what has begun and,
 * on an own socket, what waits to be accepted. On SIGHUP the front takes its
 * configuration anew. Call with those signals blocked in every thread. -1 when
 * it could not start or had to leave requests.
 */
int server_run(struct front *, struct listener *, int threads, struct err *);

/* One request from the environment and standard input. */
bool cgi_run(struct front *, const char *const *environment);

#endif
