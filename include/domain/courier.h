/*
 * Delivering webhooks, in steps that a test can take one at a time. Any number
 * of workers may deliver for a ledger: an endpoint is held by one of them at a
 * time, by an event with a lease, and gets one request at a time; what came of
 * a batch of attempts is one event, which gives the endpoint back. A worker
 * that dies leaves its endpoints until the lease ends, and what it had sent and
 * not recorded is sent again: at least once.
 *
 * The deliveries about one record go out in their order: the next one waits
 * until the former one is delivered or given up. Others do not wait for it.
 */
#ifndef DOMAIN_COURIER_H
#define DOMAIN_COURIER_H

#include "domain/outbound.h"
#include "domain/worker.h"

/* One request, signed. */
struct courier_parcel {
	struct str url, id, timestamp, signature, body;
};

struct courier {
	const struct worker *worker;
	/* In place of the network, for tests; NULL: the network. 0 with any
	 * status, or -1 when there was no answer. */
	int (*send)(void *arg, const struct courier_parcel *, struct arena *,
	    struct outbound_reply *, struct err *);
	void *arg;
};

/* An endpoint that this worker holds. */
struct errand {
	struct uid webhook;
	uint64_t claim; /* the event by which it does */
	bool ailing;    /* its latest attempts failed or took long */
};

/*
 * Takes endpoints that something is due for and that nobody holds, the one
 * served the longest ago first: at most `most`, of them ailing ones at most
 * `most_ailing`. Costs one read when there are none.
 */
int courier_claim(const struct courier *, struct arena *, size_t most,
    size_t most_ailing, struct errand *, size_t *n, struct err *);

/* Delivers what is due for it, at most a batch, records the attempts and gives
 * the endpoint back. */
int courier_run(const struct courier *, struct arena *, const struct errand *,
    struct err *);

/* Delivers until nothing is due. */
int courier_run_all(const struct courier *, struct arena *, struct err *);

/*
 * Threads that run errands of all ledgers, so that no endpoint waits for
 * another. At most half of them are given to ailing endpoints.
 */
struct courier_pool;
struct courier_pool *courier_pool_new(struct service *, struct str name);

/* Takes what is due in the worker's ledger and leaves it to the threads. */
int courier_pool_visit(
    struct courier_pool *, const struct worker *, struct arena *, struct err *);

/* Until a thread is done, or a moment has passed. */
void courier_pool_rest(struct courier_pool *);

/* Waits for the threads, which end after the request they are making. */
void courier_pool_free(struct courier_pool *);

#endif
