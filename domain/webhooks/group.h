#ifndef DOMAIN_WEBHOOKS_GROUP_H
#define DOMAIN_WEBHOOKS_GROUP_H

#include "domain/gauge.h"
#include "domain/job.h"
#include "domain/operation.h"
#include "domain/webhooks/events.h"

#define WEBHOOK_CHECKPOINT "ledger.checkpoint"

extern const struct operation op_webhook_register, op_webhook_list,
    op_webhook_revoke, op_webhook_approve, op_webhook_rotate_secret,
    op_webhook_deliveries, op_webhook_dead_letters, op_webhook_replay;
extern const struct err_kind err_unsafe_endpoint;
extern const struct job_kind job_webhook_checkpoint, job_webhook_revoke;

/* A name that may be subscribed to. */
struct webhook_name {
	const char *text;
	const char *path; /* of the record told of, before its uid, or NULL */
	bool by_default;  /* for who names no events */
};
extern const struct webhook_name webhook_names[]; /* ends with a NULL text */

/* The same as a field's .values. */
extern const char *const webhook_values[];

/* NULL when there is none. */
const struct webhook_name *webhook_name_find(struct str);

/* A registration of this ledger by its uid; for an application, its own alone.
 * err_not_found, the same for another's and for none. */
struct webhook_row {
	int64_t id;
	struct uid uid, application;
	struct str url, status, public_key;
};
int webhook_find(
    struct context *, struct uid, struct webhook_row *, struct err *);

/* A version 8 UUID (RFC 9562) that follows from the parts, as a projection may
 * know no randomness. */
struct uid webhook_uid_of(const struct str *parts, size_t n);

/* Offers an event to whoever wants the name, whichever application it is;
 * detail is a JSON object's text, members of the body's data. */
int webhook_offer_all(struct db *, const struct event *, const char *name,
    struct str detail, struct err *);

extern const struct gauge gauge_deliveries_queued, gauge_delivery_lag,
    gauge_dead_letters;

#endif
