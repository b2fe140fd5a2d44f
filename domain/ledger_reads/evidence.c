/*
 * One event with what proves it, as a file for people without access here. It
 * shows the event whole, and nothing of its neighbours.
 */
#include "ledger/chain/evidence.h"
#include "ledger/base/embed.h"

#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"

struct evidence_query {
	int64_t seq;
	struct opt_int size;
};

/* For the published description; the file itself is made by the ledger. */
struct file_key {
	struct str public_key, key_id;
	int64_t from_seq;
	struct opt_int until_seq;
	struct str line, proof;
};

struct evidence_file {
	struct str format, ledger, line, proof;
	struct list keys;
};

/* clang-format off */
SHAPE(evidence_query, "Which event",
	FIELD(evidence_query, seq, .place = IN_PATH, .required = true, .min = 0, .max = SEQ_MAX, .doc = "Its place in the ledger"),
	FIELD(evidence_query, size, .place = IN_QUERY, .min = 1, .max = SEQ_MAX, .doc = "Events in the tree of its proof; rounded up to a size with a signed checkpoint when it has none, the newest when absent"));
SHAPE(file_key, "A key of the ledger, and the events that it signed",
	FIELD(file_key, public_key, .required = true, .doc = "The key, as an OpenSSH line"),
	FIELD(file_key, key_id, .required = true, .doc = "Its id in signatures, eight hex digits"),
	FIELD(file_key, from_seq, .doc = "The first event it signed"),
	FIELD(file_key, until_seq, .doc = "The last event it signed; null while it is in force"),
	FIELD(file_key, line, .omit_null = true, .doc = "Of every key but the first: the line of the event that names it"),
	FIELD(file_key, proof, .omit_null = true, .doc = "A C2SP tlog-proof of that event, against the same checkpoint"));
SHAPE(evidence_file, "One event and what proves it, in canonical form (RFC 8785)",
	FIELD(evidence_file, format, .values = VALUES(EVIDENCE_FORMAT), .required = true, .doc = "What this file is"),
	FIELD(evidence_file, ledger, .required = true, .doc = "The ledger's name"),
	FIELD(evidence_file, line, .required = true, .doc = "The event's line in its batch, byte for byte: signatures, a space, the event"),
	FIELD(evidence_file, proof, .required = true, .doc = "A C2SP tlog-proof that the event is in the ledger"),
	FIELD(evidence_file, keys, .of = &file_key_shape, .doc = "The ledger's keys, in the order of the events they signed"));
/* clang-format on */

EMBED(ledger_evidence_examples,
    "domain/ledger_reads/examples/ledger.evidence.json");
CONTENT_OPERATION(ledger_evidence, evidence_query, .id = "ledger.evidence",
    .method = "GET", .path = "/api/v2/ledger/evidence/{seq}",
    .examples = ledger_evidence_examples, .scope = "trust:read",
    .entitlement = "core-platform", .product = PRODUCT,
    .media_type = EVIDENCE_MEDIA_TYPE, .out = &evidence_file_shape,
    .summary = "Download the evidence for one event, to hand on");

static int
ledger_evidence_read(struct context *c, const struct evidence_query *in,
    struct content *out, struct err *e)
{
	struct evidence evidence = { .origin = ledger_origin(c->ledger) };
	struct key_history history;
	struct inclusion proof;
	struct signed_root at;
	struct buf b;
	int rc;

	if (signed_root_read(c, in->size, &at, e) ||
	    inclusion_prove(c, in->seq, &at, &proof, e) ||
	    key_history_prove(c, &at, &history, e))
		return -1;
	evidence.keys = history.keys;
	evidence.n_keys = history.n;
	evidence.line = proof.event.line;
	evidence.proof = proof.tlog_proof;
	buf_init(&b, EVIDENCE_MAX);
	rc = evidence_add(&b, &evidence, e);
	if (rc == 0)
		out->bytes = arena_str(c->arena, buf_str(&b));
	buf_fini(&b);
	out->file_name = arena_strf(
	    c->arena, "event-%lld.evidence.json", (long long)in->seq);
	return rc;
}
