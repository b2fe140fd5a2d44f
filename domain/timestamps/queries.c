/*
 * The time-stamps for auditors without a clone: note and token are the bytes
 * that `openssl ts -verify` reads.
 */
#include "domain/timestamps/group.h"
#include "ledger/base/embed.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/note.h"
#include "ledger/crypto/timestamp.h"

#define SEQ_MAX 9007199254740991

struct timestamp_query {
	int64_t limit;
	struct opt_int before_seq;
};

struct timestamp_item {
	int64_t seq, size;
	struct digest_text root;
	struct str authority, policy;
	struct instant gen_time;
	struct str checkpoint, token;
};

struct timestamp_list {
	struct list data;
	bool has_more;
	struct opt_int next_before_seq;
};

/* clang-format off */
SHAPE(timestamp_query, "Which time-stamps",
	FIELD(timestamp_query, limit, .place = IN_QUERY, .min = 1, .max = 50, .def = "10", .doc = "Records a page, 1 to 50"),
	FIELD(timestamp_query, before_seq, .place = IN_QUERY, .min = 0, .max = SEQ_MAX, .doc = "Only those recorded before this event: the last seq of the page before"));
SHAPE(timestamp_item, "A time-stamp of a checkpoint (RFC 3161)",
	FIELD(timestamp_item, seq, .doc = "The event that recorded it"),
	FIELD(timestamp_item, size, .doc = "Events that the checkpoint covers"),
	FIELD(timestamp_item, root, .required = true, .doc = "Root of the Merkle tree of that size"),
	FIELD(timestamp_item, authority, .required = true, .doc = "URL of the authority that was asked"),
	FIELD(timestamp_item, policy, .required = true, .doc = "The authority's policy, an object identifier"),
	FIELD(timestamp_item, gen_time, .required = true, .doc = "The authority's time, cut to whole seconds"),
	FIELD(timestamp_item, checkpoint, .required = true, .max = NOTE_MAX, .doc = "The signed note whose SHA-256 was stamped"),
	FIELD(timestamp_item, token, .required = true, .max = BASE64_LENGTH(TIMESTAMP_MAX), .doc = "The authority's TimeStampResp, DER in base64"));
SHAPE(timestamp_list, "Time-stamps",
	FIELD(timestamp_list, data, .of = &timestamp_item_shape, .max = 50, .doc = "The records, newest first"),
	FIELD(timestamp_list, has_more, .doc = "Whether older ones follow"),
	FIELD(timestamp_list, next_before_seq, .doc = "before_seq of the next page; null on the last"));
/* clang-format on */

EMBED(ledger_timestamp_list_examples,
    "domain/timestamps/examples/ledger.timestamp.list.json");
READ_OPERATION(ledger_timestamp_list, timestamp_query, timestamp_list,
    .id = "ledger.timestamp.list", .method = "GET",
    .examples = ledger_timestamp_list_examples,
    .path = "/api/v2/ledger/timestamps", .scope = "trust:read",
    .entitlement = "core-platform", .product = "Core Platform",
    .summary = "List the time-stamps of the ledger's checkpoints");

static int
read_rows(struct context *c, const struct timestamp_query *in,
    struct timestamp_item *items, struct timestamp_list *out, struct err *e)
{
	int64_t before = in->before_seq.set ? in->before_seq.v : SEQ_MAX;
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT seq, size, root, authority, policy, gen_time"
		" FROM checkpoint_timestamp WHERE seq < ?"
		" ORDER BY seq DESC LIMIT ?",
		"ii", before, in->limit + 1))
		return -1;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = (struct timestamp_item){
				.seq = rows_int(&r, 0),
				.size = rows_int(&r, 1),
				.root = { rows_str(&r, 2, c->arena) },
				.authority = rows_str(&r, 3, c->arena),
				.policy = rows_str(&r, 4, c->arena),
				.gen_time = rows_instant(&r, 5),
			};
	}
	return rows_end(&r, e);
}

static int
read_content(struct context *c, const struct event *event, const char *name,
    size_t max, struct str *out, struct err *e)
{
	for (size_t i = 0; i < event->n_payloads; i++)
		if (str_is(event->payloads[i].name, name))
			return ledger_read_payload(c->reading, event->seq,
			    event->payloads[i].sha256, max, c->arena, out, e);
	return err_set(e, &err_corrupt, "event %llu has no content %s",
	    (unsigned long long)event->seq, name);
}

static struct str
as_base64(struct arena *a, struct str bytes)
{
	char *text = arena_alloc(a, BASE64_LENGTH(bytes.n) + 1);

	base64_encode(bytes.p, bytes.n, text);
	return str_from(text);
}

static int
read_contents(struct context *c, struct timestamp_item *item, struct err *e)
{
	struct stored_event stored;
	struct str token;

	if (ledger_read_event(
		c->reading, (uint64_t)item->seq, c->arena, &stored, e) ||
	    read_content(c, &stored.recorded.event, PAYLOAD_NOTE, NOTE_MAX,
		&item->checkpoint, e) ||
	    read_content(c, &stored.recorded.event, PAYLOAD_TOKEN,
		TIMESTAMP_MAX, &token, e))
		return -1;
	item->token = as_base64(c->arena, token);
	return 0;
}

static int
ledger_timestamp_list_read(struct context *c, const struct timestamp_query *in,
    struct timestamp_list *out, struct err *e)
{
	struct timestamp_item *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);

	*out = (struct timestamp_list){ .data = { items, 0 } };
	if (read_rows(c, in, items, out, e))
		return -1;
	if (out->has_more)
		out->next_before_seq =
		    (struct opt_int){ true, items[out->data.n - 1].seq };
	for (size_t i = 0; i < out->data.n; i++)
		if (read_contents(c, &items[i], e))
			return -1;
	return 0;
}
