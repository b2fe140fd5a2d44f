#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"
#include "ledger/base/embed.h"
#include "ledger/codec/text.h"

struct event_query {
	int64_t seq;
};

struct event_batch {
	int64_t first, count;
};

struct event_reply {
	int64_t id, seq;
	struct str line;
	const struct json *event;
	struct digest_text hash;
	struct str signature, key_id, commit, traceparent;
	const void *batch;
	bool is_void;
};

/* clang-format off */
SHAPE(event_query, "Which event",
	FIELD(event_query, seq, .place = IN_PATH, .required = true, .min = 0, .max = SEQ_MAX, .doc = "Its place in the ledger"));
SHAPE(event_batch, "The events that were committed together",
	FIELD(event_batch, first, .doc = "Place of the first one"),
	FIELD(event_batch, count, .doc = "How many they are"));
SHAPE(event_reply, "An event with what proves it",
	FIELD(event_reply, id, .doc = "Events in the ledger with this one: seq + 1"),
	FIELD(event_reply, seq, .doc = "Its place in the ledger"),
	FIELD(event_reply, line, .required = true, .max = 131072, .doc = "Its line in the batch, byte for byte: signatures, a space, the event"),
	FIELD(event_reply, event, .doc = "The event as JSON"),
	FIELD(event_reply, hash, .required = true, .doc = "SHA-256 of the event's bytes"),
	FIELD(event_reply, signature, .required = true, .doc = "Ed25519 signature of the event's bytes, base64"),
	FIELD(event_reply, key_id, .required = true, .doc = "Key id of the signature, eight hex digits"),
	FIELD(event_reply, commit, .required = true, .doc = "Git commit of its batch"),
	FIELD(event_reply, batch, .required = true, .of = &event_batch_shape, .doc = "Its batch"),
	FIELD(event_reply, traceparent, .doc = "Trace that its request named (W3C Trace Context); it stands beside the event, under the commit's signature"),
	{ .name = "void", .type = FIELD_BOOL, .offset = offsetof(struct event_reply, is_void), .doc = "Whether a later revocation of its key took its effect back" });
/* clang-format on */

EMBED(ledger_event_show_examples,
    "domain/ledger_reads/examples/ledger.event.show.json");
READ_OPERATION(ledger_event_show, event_query, event_reply,
    .id = "ledger.event.show", .method = "GET",
    .examples = ledger_event_show_examples,
    .path = "/api/v2/ledger/events/{seq}", .scope = "trust:read",
    .entitlement = "core-platform", .product = PRODUCT,
    .summary = "Read an event with what proves it");

static struct str
signature_as_text(struct arena *a, struct signature signature)
{
	char text[BASE64_LENGTH(sizeof signature.b) + 1];

	base64_encode(signature.b, sizeof signature.b, text);
	return arena_str(a, str_from(text));
}

static int
ledger_event_show_read(struct context *c, const struct event_query *in,
    struct event_reply *out, struct err *e)
{
	struct event_batch *batch = ARENA_NEW(c->arena, struct event_batch);
	uint64_t seq = (uint64_t)in->seq;
	struct stored_event found;
	struct batch_place at;
	struct json *event;

	if (ledger_read_batch_place(c->reading, seq, &at, e) ||
	    ledger_read_event(c->reading, seq, c->arena, &found, e) ||
	    json_parse(c->arena, found.recorded.event.bytes,
		&json_limits_default, &event, e))
		return -1;
	*batch = (struct event_batch){ (int64_t)at.first, (int64_t)at.count };
	*out = (struct event_reply){
		.id = in->seq + 1,
		.seq = in->seq,
		.line = found.line,
		.event = event,
		.hash = digest_as_text(c->arena, found.recorded.hash),
		.signature =
		    signature_as_text(c->arena, found.recorded.signature),
		.key_id = arena_strf(c->arena, "%08x", found.recorded.key_id),
		.commit = commit_as_text(c->arena, found.commit),
		.batch = batch,
		.traceparent = found.trace,
		.is_void = found.revocation != NULL,
	};
	return 0;
}
