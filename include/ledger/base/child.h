/*
 * A program run beside us for its output, read as it comes. It is the head of
 * a process group, so that whoever it started ends with it; it inherits
 * nothing but standard error.
 *
 *	if (child_start(argv, environment, -1, true, &child, e) ||
 *	    child_finish(&child, 60, said, sizeof said, &status, e))
 *		return -1;
 */
#ifndef LEDGER_BASE_CHILD_H
#define LEDGER_BASE_CHILD_H

#include <sys/types.h>

#include "ledger/base/err.h"

struct child {
	pid_t pid; /* 0: none runs */
	int out;   /* what it writes; ours to read */
};

/*
 * argv[0] is a path, or a name looked for along PATH. in: its standard input,
 * or -1 for an empty one. with_errors: its standard error goes where its output
 * goes. err_not_found when there is no such program, err_unavailable.
 */
int child_start(const char *const *argv, const char *const *environment, int in,
    bool with_errors, struct child *, struct err *);

/*
 * Reads to the end of its output, keeps what fits into `said` as a C string,
 * and waits for its end. *status is what waitpid gave. err_unavailable when
 * that took longer than the seconds. Nothing of it runs afterwards.
 */
int child_finish(struct child *, int64_t seconds, char *said, size_t room,
    int *status, struct err *);

/* Kills what still runs of it; nothing when none runs. */
void child_end(struct child *);

#endif
