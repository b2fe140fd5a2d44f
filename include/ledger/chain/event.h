/*
 * One event (docs/ledger-format.md, "One event"): a canonical JSON object, at
 * most EVENT_MAX bytes, whose hash is SHA-256 of its bytes.
 */
#ifndef LEDGER_CHAIN_EVENT_H
#define LEDGER_CHAIN_EVENT_H

#include "ledger/base/uid.h"
#include "ledger/codec/json.h"
#include "ledger/crypto/hash.h"
#include "ledger/store/repo.h"

#define EVENT_MAX      65535
#define EVENT_FORMAT   1
#define EVENT_TYPE_MAX 64
#define EVENT_PAYLOADS 64

/* Who caused it. */
struct actor {
	struct str kind;       /* application, human, worker, operator */
	struct str id;         /* the application's uid, the operator's name */
	struct str credential; /* the credential's public id, or no value */
	/* Of a signed request, as sent; else no value. */
	struct str signature_input, signature, content_digest;
};

struct idempotency {
	bool set;
	struct digest key_hmac, request_hmac;
};

/* A larger content beside the events. */
struct payload {
	struct str name;
	struct digest sha256;
	uint64_t size;
	struct str media_type;
	struct oid oid; /* of the stored blob; not part of the event */
};

struct event {
	struct str ledger; /* origin */
	uint64_t seq;
	struct uid uid;
	struct instant at;
	struct str type;
	struct str subject_kind;
	struct uid subject;
	struct actor actor;
	struct uid request; /* none: null */
	struct idempotency idempotency;
	struct digest prev;
	const struct json *data;
	const struct payload *payloads;
	size_t n_payloads;
	/* traceparent of the request (W3C Trace Context), or no value. It
	 * stands beside the batch's events, not in the event. */
	struct str trace;

	struct str bytes; /* the canonical form */
	struct digest hash;
};

/* Fills bytes (in the arena) and hash from the other members. err_too_large
 * beyond EVENT_MAX. */
int event_seal(struct arena *, struct event *, struct err *);

/* Reads an event from its bytes, which are borrowed; err_corrupt when they are
 * not canonical or a member is missing, unknown or of another form. */
int event_parse(struct arena *, struct str bytes, struct event *, struct err *);

#endif
