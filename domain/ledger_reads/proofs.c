/*
 * Proofs that the ledger's Merkle tree gives (RFC 9162). Each ends in a root
 * that the ledger signed.
 */
#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"
#include "ledger/base/embed.h"

struct inclusion_query {
	int64_t seq;
	struct opt_int size;
};

struct inclusion_reply {
	int64_t seq, size;
	struct digest_text leaf_hash;
	struct str_list hashes;
	struct digest_text root;
	struct str checkpoint, tlog_proof;
};

struct consistency_query {
	int64_t old;
	struct opt_int size;
};

struct consistency_reply {
	int64_t old, size;
	struct str_list hashes;
	struct digest_text root;
	struct str checkpoint;
};

/* clang-format off */
#define SIZE_DOC "Events in the tree; rounded up to a size with a signed checkpoint when it has none, the newest when absent"

SHAPE(inclusion_query, "Which event, and in which tree",
	FIELD(inclusion_query, seq, .place = IN_QUERY, .required = true, .min = 0, .max = SEQ_MAX, .doc = "The event's place in the ledger"),
	FIELD(inclusion_query, size, .place = IN_QUERY, .min = 1, .max = SEQ_MAX, .doc = SIZE_DOC));
SHAPE(inclusion_reply, "A proof that an event is in the ledger",
	FIELD(inclusion_reply, seq, .doc = "The event's place in the ledger"),
	FIELD(inclusion_reply, size, .doc = "Events in the tree"),
	FIELD(inclusion_reply, leaf_hash, .required = true, .doc = "SHA-256 of a zero byte and the event's bytes"),
	FIELD(inclusion_reply, hashes, .doc = "Hashes from the leaf up, hexadecimal (RFC 9162, 2.1.3)"),
	FIELD(inclusion_reply, root, .required = true, .doc = "Root of the tree, as the checkpoint has it"),
	FIELD(inclusion_reply, checkpoint, .required = true, .max = 4096, .doc = "The signed note for this size"),
	FIELD(inclusion_reply, tlog_proof, .required = true, .max = 16384, .doc = "The same as a C2SP tlog-proof"));
SHAPE(consistency_query, "Between which sizes",
	FIELD(consistency_query, old, .place = IN_QUERY, .required = true, .min = 1, .max = SEQ_MAX, .doc = "Events in the tree that you know"),
	FIELD(consistency_query, size, .place = IN_QUERY, .min = 1, .max = SEQ_MAX, .doc = SIZE_DOC));
SHAPE(consistency_reply, "A proof that the ledger continues what it was",
	FIELD(consistency_reply, old, .doc = "Events in the earlier tree"),
	FIELD(consistency_reply, size, .doc = "Events in the later tree"),
	FIELD(consistency_reply, hashes, .doc = "Hashes, hexadecimal (RFC 9162, 2.1.4)"),
	FIELD(consistency_reply, root, .required = true, .doc = "Root of the later tree, as the checkpoint has it"),
	FIELD(consistency_reply, checkpoint, .required = true, .max = 4096, .doc = "The signed note for the later size"));
/* clang-format on */

EMBED(ledger_proof_inclusion_examples,
    "domain/ledger_reads/examples/ledger.proof.inclusion.json");
READ_OPERATION(ledger_proof_inclusion, inclusion_query, inclusion_reply,
    .id = "ledger.proof.inclusion", .method = "GET",
    .examples = ledger_proof_inclusion_examples,
    .path = "/api/v2/ledger/proofs/inclusion", .scope = "trust:read",
    .entitlement = "core-platform", .product = PRODUCT,
    .refusals = REFUSES(&err_not_found),
    .summary = "Prove that an event is in the ledger");
EMBED(ledger_proof_consistency_examples,
    "domain/ledger_reads/examples/ledger.proof.consistency.json");
READ_OPERATION(ledger_proof_consistency, consistency_query, consistency_reply,
    .id = "ledger.proof.consistency", .method = "GET",
    .examples = ledger_proof_consistency_examples,
    .path = "/api/v2/ledger/proofs/consistency", .scope = "trust:read",
    .entitlement = "core-platform", .product = PRODUCT,
    .refusals = REFUSES(&err_not_found),
    .summary = "Prove that the ledger continues what it was");

static int
ledger_proof_inclusion_read(struct context *c, const struct inclusion_query *in,
    struct inclusion_reply *out, struct err *e)
{
	struct inclusion proof;
	struct signed_root at;

	if (signed_root_read(c, in->size, &at, e) ||
	    inclusion_prove(c, in->seq, &at, &proof, e))
		return -1;
	*out = (struct inclusion_reply){
		.seq = in->seq,
		.size = (int64_t)at.size,
		.leaf_hash = digest_as_text(
		    c->arena, merkle_leaf(proof.event.recorded.event.bytes)),
		.hashes = hashes_as_text(c->arena, &proof.path),
		.root = digest_as_text(c->arena, at.root),
		.checkpoint = at.note,
		.tlog_proof = proof.tlog_proof,
	};
	return 0;
}

static int
ledger_proof_consistency_read(struct context *c,
    const struct consistency_query *in, struct consistency_reply *out,
    struct err *e)
{
	struct merkle_proof path;
	struct signed_root at;

	if (signed_root_read(c, in->size, &at, e))
		return -1;
	if ((uint64_t)in->old > at.size)
		return err_add_field(e, c->arena, "parameter", "old", "maximum",
		    "must be at most the later size, %llu",
		    (unsigned long long)at.size);
	if (ledger_prove_consistency(
		c->reading, (uint64_t)in->old, at.size, c->arena, &path, e))
		return -1;
	*out = (struct consistency_reply){
		.old = in->old,
		.size = (int64_t)at.size,
		.hashes = hashes_as_text(c->arena, &path),
		.root = digest_as_text(c->arena, at.root),
		.checkpoint = at.note,
	};
	return 0;
}
