/*
 * A program run beside us for its output, read as it comes. It is the head of
 * a process group, so that whoever it started ends with it; it inherits
 * nothing but standard error.
 */
#ifndef FCGI_CHILD_H
#define FCGI_CHILD_H

#include <sys/types.h>

#include "ledger/base/err.h"

struct child {
	pid_t pid; /* 0: none runs */
	int out;   /* what it writes; ours to read */
};

/*
 * argv[0] is a path, or a name looked for along PATH. in: its standard input,
 * or -1 for an empty one. err_not_found when there is no such program,
 * err_unavailable.
 */
int child_start(const char *const *argv, const char *const *environment, int in,
    struct child *, struct err *);

/* Kills what still runs of it; nothing when none runs. */
void child_end(struct child *);

#endif
