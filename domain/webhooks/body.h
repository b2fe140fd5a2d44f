/*
 * What a delivery says: a function of the event and of what the registration
 * recorded, so each attempt sends the same bytes, whatever the configuration
 * has become.
 */
#ifndef DOMAIN_WEBHOOKS_BODY_H
#define DOMAIN_WEBHOOKS_BODY_H

#include "ledger/base/uid.h"
#include "ledger/codec/json.h"
#include "ledger/crypto/hash.h"

struct webhook_message {
	struct str event; /* "financial_action.created" */
	struct instant at;
	struct str ledger; /* origin */
	int64_t seq;
	struct digest event_hash;
	struct uid subject;
	struct str base_url;
	struct str detail; /* further members of data, as JSON; or no value */
};

/* Canonical JSON in the arena, less than 20 kB. */
int webhook_body(
    struct arena *, const struct webhook_message *, struct str *, struct err *);

#endif
