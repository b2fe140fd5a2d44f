/*
 * A connection of a web server, and one FastCGI request on it. libfcgi reads
 * and writes the records; the socket stays ours, because libfcgi would hold a
 * thread on an idle connection, wait two seconds when it closes one, and never
 * give up on a silent one.
 */
#ifndef FCGI_CONNECTION_H
#define FCGI_CONNECTION_H

#include "fcgi/front.h"

/* Once a process, before any thread. */
int connection_init(struct err *);

/* Time limits and such, on a new connection. */
void connection_prepare(int fd);

enum connection_state { CONNECTION_SILENT, CONNECTION_READY, CONNECTION_OVER };
enum connection_state connection_state(int fd);

/* Serves one request. True: the connection is open and the web server wants
 * to keep it; otherwise it is closed. */
bool connection_serve(int fd, struct front *, struct front_worker *);

#endif
