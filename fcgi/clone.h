/*
 * git's http-backend at work on one request: its reply's header fields are
 * read, the rest goes to the client as it comes. However it ends, and whoever
 * goes away, the child ends with it.
 */
#ifndef FCGI_CLONE_H
#define FCGI_CLONE_H

#include <stdatomic.h>

#include "fcgi/request.h"
#include "fcgi/response.h"

struct clone;

struct clone_limits {
	const char *lock_path; /* shared by all processes of the state */
	int64_t seconds;       /* from the start to the last byte */
	int64_t at_once;
	/* 0, or when each must have ended at the latest, in microseconds. */
	const atomic_llong *latest_us;
};

/*
 * input: descriptor of the request's body, or -1. The child lives until
 * response_close. err_clone_busy, err_clone_unavailable, err_unavailable.
 */
int clone_start(const struct clone_limits *, const char *git,
    const char *const *environment, int input, struct transport *,
    struct arena *, struct clone **, struct err *);

/* Status, type and source of the reply; the response owns the clone from here
 * on, even when this fails. */
int clone_answer(
    struct clone *, struct arena *, struct response *, struct err *);

#endif
