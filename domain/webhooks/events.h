#ifndef DOMAIN_WEBHOOKS_EVENTS_H
#define DOMAIN_WEBHOOKS_EVENTS_H

#include "ledger/view/project.h"

#define WEBHOOK_URL_MAX 1000
#define WEBHOOK_BOX     124 /* base64 of a box */
#define WEBHOOK_BATCH   64  /* attempts that one event records */
#define WEBHOOK_FAULT   160 /* longest words about a failed attempt */

struct webhook_registered {
	int64_t id;
	struct uid application;
	struct str url, base_url, description;
	struct str_list events;
	struct str status, secret, public_key;
};

/* Approved, revoked, disabled. */
struct webhook_changed {
	struct str reason;
};

struct webhook_secret_rotated {
	struct str secret, public_key;
	struct instant previous_until;
};

struct webhook_claimed {
	struct str worker;
	struct instant lease_until;
};

struct webhook_attempt {
	struct uid delivery;
	int64_t number;
	struct instant at;
	struct str outcome; /* delivered, retry, dead, late */
	struct opt_int status;
	int64_t duration_ms;
	struct str fault;
	struct instant next_at;
};

struct webhook_attempted {
	int64_t claim;
	struct list attempts;
};

struct webhook_replayed {
	struct uid delivery; /* none: all dead letters of the registration */
	int64_t deliveries;
};

struct checkpoint_announced {
	int64_t size;
	struct str checkpoint;
};

extern const struct event_type event_webhook_registered, event_webhook_approved,
    event_webhook_revoked, event_webhook_disabled, event_webhook_secret_rotated,
    event_webhook_claimed, event_webhook_attempted, event_webhook_replayed,
    event_checkpoint_announced;

#endif
