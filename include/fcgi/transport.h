/*
 * One request as it comes from a web server, whichever way: FastCGI or plain
 * CGI. Everything above reads and writes through this and knows of neither.
 */
#ifndef FCGI_TRANSPORT_H
#define FCGI_TRANSPORT_H

#include <sys/types.h>

#include "ledger/base/str.h"

struct transport {
	const char *const
	    *params; /* NAME=value as sent, repeats too; NULL-ended */
	/* Up to n bytes of the body; 0 at its end; -1 when the client has
	 * given up, or did not send in time. */
	ssize_t (*read)(struct transport *, void *, size_t n);
	/* All of it, or false when nobody is there to take it. */
	bool (*write)(struct transport *, struct str);
	/* Sends on what was written, and says whether somebody still waits for
	 * more: asked while a long reply is made. NULL: nobody can tell. */
	bool (*present)(struct transport *);
};

/* The first parameter of this name; no value: there is none. */
struct str transport_param(const char *const *params, const char *name);

#endif
