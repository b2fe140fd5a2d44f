/*
 * The members of an event, read off its canonical bytes without a tree. In
 * canonical form the members stand in one order, so reading is comparing; it is
 * strict, exactly the known members in exactly their forms, and several times
 * faster than a parser, which is what verifying a long ledger lives on.
 *
 * Strings are borrowed from the bytes as they are written there: with their
 * escapes, without their quotes. No value: null, or an absent member.
 */
#ifndef LEDGER_CHAIN_EVENT_SCAN_H
#define LEDGER_CHAIN_EVENT_SCAN_H

#include "ledger/chain/event.h"

struct payload_scan {
	struct str name, media_type;
	struct digest sha256;
	uint64_t size;
};

struct event_scan {
	struct actor actor;
	struct instant at;
	struct str data; /* the whole object */
	struct idempotency idempotency;
	struct str ledger;
	struct digest prev;
	struct uid request;
	uint64_t seq;
	struct str subject_kind;
	struct uid subject;
	struct str type;
	struct uid uid;
	size_t n_payloads;
	struct payload_scan payloads[EVENT_PAYLOADS]; /* n_payloads are set */
};

/*
 * The caller has checked that the bytes are canonical (canon_check_event);
 * anything else is safe, but may pass. err_corrupt names the member.
 */
int event_scan(struct str bytes, struct event_scan *, struct err *);

#endif
