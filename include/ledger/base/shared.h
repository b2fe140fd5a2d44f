/*
 * A file of fixed size that all processes of one state map together, for
 * counters that no event holds: rates, latencies. What is in it is local and
 * may be lost; atomics in the mapping are the only order there is.
 *
 *	struct shared shared;
 *
 *	if (shared_open(path, sizeof *table, "probity-limits/1", &shared, e))
 *		return -1;
 *	table = shared.p;
 */
#ifndef LEDGER_BASE_SHARED_H
#define LEDGER_BASE_SHARED_H

#include "ledger/base/err.h"

#define SHARED_NAME_MAX 32 /* the mapping's first bytes: name, zero-filled */

struct shared {
	void *p;      /* after the name; aligned to SHARED_NAME_MAX bytes */
	size_t bytes; /* as asked for */
};

/*
 * Maps the file, made zero-filled with mode 0600 (in a directory for a group
 * 0660; private.h) when it is not there. The name says what is in it and which
 * version of that: a file of another name or size is replaced by a new one, and
 * who has mapped the old one keeps that.
 */
int shared_open(const char *path, size_t bytes, const char *name,
    struct shared *, struct err *);
void shared_close(struct shared *);

#endif
