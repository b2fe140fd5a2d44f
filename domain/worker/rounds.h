/*
 * What a worker does, round after round. One thread takes a new configuration,
 * and once a minute queues what is due and measures; another makes the ledgers
 * durable beyond their journals, every second; the third does jobs, so that a
 * long one delays neither; the fourth does those that wait for other machines,
 * so that one which is down delays no upkeep; the fifth those that take hours
 * because they are held to a rate; the sixth hands what webhooks are due to
 * threads of their own.
 */
#ifndef DOMAIN_WORKER_ROUNDS_H
#define DOMAIN_WORKER_ROUNDS_H

#include "domain/service.h"

struct program {
	struct service *service;
	struct str name; /* of this process, unique while it lives */
};

/* One round of everything, or rounds until rounds_stop. -1 when a thread cannot
 * be started. */
int rounds_run(const struct program *, bool once);

/* Both from a signal's handler. SIGUSR1 is to interrupt what sleeps. */
void rounds_stop(void);
void rounds_reload(void); /* the configuration */

#endif
