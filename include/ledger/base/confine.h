/*
 * What a process gives up for good when it starts, and with it whatever it
 * starts: rights that no request needs and that somebody who has come into it
 * would want. The kernel holds it (no_new_privs, seccomp, Landlock), as far as
 * it can; where it cannot, nothing fails and the caller is told.
 *
 * Threads that run already keep their rights: call it before there are any.
 *
 *	const char *const folders[] = { "/var/lib/probity", "/tmp", NULL };
 *	struct confine_limits limits = { .folders = folders };
 *
 *	confined_tell(confine(&limits), "server");
 */
#ifndef LEDGER_BASE_CONFINE_H
#define LEDGER_BASE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

enum confine_part {
	CONFINE_PRIVILEGES = 1, /* none come with a program's file */
	CONFINE_CALLS = 2,      /* system calls that rule the machine */
	CONFINE_DEVICES = 4,    /* no device is made */
	CONFINE_SIGNALS = 8,    /* to itself and what it started, no others */
	CONFINE_WRITES = 16,    /* to files of its folders alone */
	CONFINE_NETWORK = 32,   /* TCP: nothing bound, few ports connected to */
};

struct confine_limits {
	/* A process of one request: without CONFINE_CALLS, since the kernel
	 * works on a filter for as long as on all the rest. */
	bool short_lived;
	/* Folders and files that may be written, ended by NULL. What is below
	 * a folder later may be written too; one that is not there is passed
	 * over. NULL: anywhere, and the network is as free. */
	const char *const *folders;
	/* Ports that may be connected to by TCP, ended by 0; NULL: none. */
	const uint16_t *ports;
};

/* Bits of confine_part. */
struct confined {
	unsigned asked, in_force;
};

struct confined confine(const struct confine_limits *);

/* A line at level info: what is in force, and what the kernel lacks. */
void confined_tell(struct confined, const char *module);

/* Whether this process gave that up, for errors that have to say so. */
bool confine_holds(enum confine_part);

#endif
