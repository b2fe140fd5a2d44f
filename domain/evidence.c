/*
 * What a reply to a write carries so that its receiver can hold the service to
 * it.
 */
#include "domain/running.h"

#include <stdio.h>

#include "ledger/codec/text.h"

struct evidence {
	struct str ledger;
	int64_t seq;
	struct digest_text event_hash;
	struct str signature, key_id, commit, checkpoint;
};

/* clang-format off */
SHAPE(evidence, "What proves the last event that the request caused",
	FIELD(evidence, ledger, .required = true, .doc = "Origin of the ledger"),
	FIELD(evidence, seq, .required = true, .doc = "The event's place in the ledger"),
	FIELD(evidence, event_hash, .required = true, .doc = "SHA-256 of the event's bytes"),
	FIELD(evidence, signature, .required = true, .doc = "Ed25519 signature of the event's bytes, base64"),
	FIELD(evidence, key_id, .required = true, .doc = "Key id of the signature, eight hex digits"),
	FIELD(evidence, commit, .required = true, .doc = "Git commit of the event's batch"),
	FIELD(evidence, checkpoint, .omit_null = true, .max = 4096, .doc = "Signed note that covers the event"));
/* clang-format on */

static struct json *
encode(struct arena *a, const struct recorded *recorded, struct oid commit,
    struct str checkpoint)
{
	char hash[DIGEST_HEX + 1], oid[OID_HEX + 1];
	char signature[BASE64_LENGTH(64) + 1];
	struct evidence *evidence = ARENA_NEW(a, struct evidence);

	digest_hex(recorded->hash, hash);
	oid_hex(commit, oid);
	base64_encode(recorded->signature.b, 64, signature);
	*evidence = (struct evidence){
		.ledger = recorded->event.ledger,
		.seq = (int64_t)recorded->seq,
		.event_hash = { arena_str(a, str_from(hash)) },
		.signature = arena_str(a, str_from(signature)),
		.key_id = arena_strf(a, "%08x", recorded->key_id),
		.commit = arena_str(a, str_from(oid)),
		.checkpoint = checkpoint,
	};
	return shape_encode(&evidence_shape, evidence, a);
}

void
evidence_put(struct arena *a, struct json *body, const struct proof *proof)
{
	const struct recorded *last = &proof->recorded[proof->n - 1];
	struct json *events;

	json_put(body, "evidence",
	    encode(a, last, proof->commit, proof->checkpoint));
	if (proof->n == 1)
		return;
	events = json_array(a);
	for (size_t i = 0; i < proof->n; i++)
		json_push(events,
		    encode(a, &proof->recorded[i], proof->commit, STR_NONE));
	json_put(body, "events", events);
}
