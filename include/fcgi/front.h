/*
 * What stands between a transport and the domain: reads a request, finds its
 * row, authenticates, runs it, replies. Shared by all threads.
 */
#ifndef FCGI_FRONT_H
#define FCGI_FRONT_H

#include "domain/service.h"
#include "fcgi/transport.h"
#include "ledger/base/buf.h"

struct front;

int front_new(const struct config *, struct front **, struct err *);
void front_free(struct front *);

/* The process is about to stop: what takes long is ended within seconds. */
void front_end_soon(struct front *);

/* Takes the configuration anew, and opens the access log again; faults are
 * told to the log, and then the old one stays in force. Requests go on. */
void front_reload(struct front *);

/* A thread's memory, used again for each request. */
struct front_worker {
	struct arena *arena;
	struct buf out;
};

void front_worker_init(struct front_worker *);
void front_worker_fini(struct front_worker *);

/* One request and its reply. False when nothing may follow on its connection:
 * the client gave up before the reply was written, or has sent a body of which
 * a part was left, where it could pass for a request. */
bool front_serve(struct front *, struct front_worker *, struct transport *);

#endif
