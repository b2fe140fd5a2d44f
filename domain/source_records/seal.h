/*
 * A seal: SHA-256 of a record's canonical JSON (RFC 8785). The same content
 * has the same seal wherever and whenever it is imported.
 *
 * A key tells that two records are the same though they may differ: of an
 * obligation, entitlement or invoice its kind, counterparty and reference; of a
 * statement entry its account, the bank's reference, direction, amount and
 * booking date. An entry without a bank's reference has none.
 */
#ifndef DOMAIN_SOURCE_RECORDS_SEAL_H
#define DOMAIN_SOURCE_RECORDS_SEAL_H

#include "domain/source_records/events.h"

struct seal {
	struct str canonical; /* in the arena */
	struct digest sha256;
	bool has_key;
	struct digest key;
};

int seal_make(
    struct arena *, const struct source_content *, struct seal *, struct err *);

/* The key's bytes, borrowed; no value when it has none. */
struct str seal_key_bytes(const struct seal *);

#endif
