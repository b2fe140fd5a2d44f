#ifndef DOMAIN_WEBHOOKS_SEND_H
#define DOMAIN_WEBHOOKS_SEND_H

#include "domain/courier.h"
#include "domain/webhooks/events.h"

/* The operator's rules for clients' URLs, from the configuration. */
int webhook_rules(
    struct service *, struct arena *, struct outbound_rules *, struct err *);

/* Screens the URL anew, and posts. */
int webhook_post(struct service *, const struct courier_parcel *,
    struct arena *, struct outbound_reply *, struct err *);

/* What an endpoint made of a request. */
struct sent {
	struct uid delivery;
	struct instant at;
	struct opt_int status;
	int64_t duration_ms, retry_after_s;
	struct str fault; /* no value: it was delivered */
};

/* In the words about a failed attempt, where the endpoint's Retry-After
 * counts: by them every worker sees that nothing goes there until then. */
#define WEBHOOK_TOLD_WHEN "Retry-After"

/* From the outcome of a send; texts are in the arena. */
void webhook_judge(struct arena *, const struct outbound_reply *,
    const struct err *fault, struct sent *);
bool webhook_is_gone(const struct sent *);

/* Whether the endpoint wants to be left alone: it answered 429, or 502, 503 or
 * 504 with Retry-After. */
bool webhook_holds_back(const struct sent *);

/* When the attempt after the tries-th may begin, in seconds from now; 0 after
 * the last. percent is webhook_retry_percent, random draws the jitter. */
int64_t webhook_wait_us(
    int64_t tries, int64_t percent, int64_t retry_after_s, uint32_t random);

/* Records what was sent under the claim and gives the endpoint back. */
int webhook_record(const struct worker *, struct arena *, const struct errand *,
    const struct sent *, size_t n, struct err *);

#endif
