/*
 * The Action Envelope: what was asked for, of which sealed source, and how
 * every control judged it at creation. Its canonical JSON is hashed once and
 * never changes; approvals are signed over that hash.
 */
#ifndef DOMAIN_ACTIONS_ENVELOPE_H
#define DOMAIN_ACTIONS_ENVELOPE_H

#include "ledger/codec/shape.h"

#define ENVELOPE_VERSION 1

struct envelope_source {
	struct uid uid;
	struct str kind;
	struct digest_text sha256;
};

struct envelope_failure {
	struct str id, detail;
};

/* The controls by outcome; the most common by name alone, to keep events
 * small. */
struct envelope_controls {
	struct str_list passed, not_applicable;
	struct list failed; /* struct envelope_failure */
};

struct envelope {
	int64_t version;
	struct str ledger; /* origin */
	struct uid uid;    /* the action's */
	struct str origin; /* application, agent */
	struct uid application;
	struct str action_key;
	const void *source; /* struct envelope_source */
	struct uid arrangement_uid;
	int64_t connector_id, counterparty_id;
	struct str currency;
	struct decimal amount; /* exactly the currency's digits */
	struct str execution_mode;
	struct str purpose, external_reference;
	struct str calculation_source, calculation_reference;
	const void *controls; /* struct envelope_controls */
	struct instant created_at;
};

extern const struct shape envelope_shape;

/* A control as replies show it. */
struct control_result {
	struct str id, outcome; /* passed, failed, not_applicable */
	struct str detail;      /* of a failure */
};

extern const struct shape control_result_shape;

/* SHA-256 of the canonical JSON, in hex, in the arena. */
int envelope_hash(const struct envelope *, struct arena *, struct digest_text *,
    struct err *);

/* Results by outcome, for the envelope; strings are borrowed. */
const struct envelope_controls *envelope_controls_from(
    struct arena *, const struct control_result *, size_t n);

/* The envelope's controls as struct control_result: failed ones first. */
struct list envelope_results(struct arena *, const struct envelope *);

#endif
