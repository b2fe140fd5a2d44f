/*
 * A service over a folder of its own with one workspace, workers for its jobs,
 * and a clock that the test puts forward. Where a function cannot do its work,
 * the test program ends.
 *
 *	struct workshop w;
 *	workshop_open(&w, 24);
 *	worker = workshop_hire(&w, "worker-one");
 *	w.clock.ahead_us += 3600 * INT64_C(1000000);
 *	…
 *	service_release(w.service, worker.ledger);
 *	workshop_close(&w);
 */
#ifndef TESTS_SUPPORT_WORKSHOP_H
#define TESTS_SUPPORT_WORKSHOP_H

#include "domain/worker.h"

/* The system's clock, but for this much. */
struct fake_clock {
	struct clock base;
	int64_t ahead_us;
};

/* Stays where it was opened: the service reads its clock. */
struct workshop {
	char dir[64];
	struct arena *a;
	struct fake_clock clock;
	struct config config;
	struct service *service;
};

/* The workspace "acme", in its sandbox. */
extern const struct place workshop_place;

/* With so many hours between two full verifications. */
void workshop_open(struct workshop *, int64_t verify_hours);

/* Frees the service, whose ledgers were released, and removes the folder. */
void workshop_close(struct workshop *);

/* Makes the service again, once the test has freed it. */
void workshop_start(struct workshop *);

/* A worker with the workspace's ledger, which the caller releases. */
struct worker workshop_hire(struct workshop *, const char *name);

#endif
