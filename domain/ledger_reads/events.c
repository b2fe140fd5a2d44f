/*
 * Events in a list: what each is about, without its content. The id by which
 * the list is paged is the ledger's size with the event, since the first event
 * has seq 0 and ids begin at 1.
 */
#include "domain/complete.h"
#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"
#include "ledger/base/embed.h"
#include "ledger/chain/index.h"

struct event_list_query {
	int64_t limit, after_id, from;
	struct uid subject;
	struct str subject_kind, proof;
};

struct event_subject {
	struct str kind;
	struct uid uid;
};

struct event_item {
	int64_t id, seq;
	struct uid uid;
	struct instant at;
	struct str type;
	const void *subject;
	struct digest_text hash;
	bool is_void;
};

/* clang-format off */
SHAPE(event_list_query, "Which events",
	PAGE_QUERY(event_list_query),
	FIELD(event_list_query, from, .place = IN_QUERY, .min = 0, .max = SEQ_MAX, .def = "0", .doc = "Only events from this place on"),
	FIELD(event_list_query, subject, .place = IN_QUERY, .doc = "Only events about the record with this identifier"),
	FIELD(event_list_query, subject_kind, .place = IN_QUERY, .min = 1, .max = INDEX_KIND_MAX, .doc = "With subject: and of this kind"),
	COMPLETE_QUERY(event_list_query));
SHAPE(event_subject, "The record that an event is about",
	FIELD(event_subject, kind, .required = true, .doc = "What it is"),
	FIELD(event_subject, uid, .required = true, .doc = "Its identifier"));
SHAPE(event_item, "An event",
	FIELD(event_item, id, .doc = "Events in the ledger with this one: seq + 1"),
	FIELD(event_item, seq, .doc = "Its place in the ledger"),
	FIELD(event_item, uid, .required = true, .doc = "Identifier"),
	FIELD(event_item, at, .required = true, .doc = "When it was recorded"),
	FIELD(event_item, type, .required = true, .doc = "What happened"),
	FIELD(event_item, subject, .required = true, .of = &event_subject_shape, .doc = "The record that it is about"),
	FIELD(event_item, hash, .required = true, .doc = "SHA-256 of its bytes"),
	{ .name = "void", .type = FIELD_BOOL, .offset = offsetof(struct event_item, is_void), .doc = "Whether a later revocation of its key took its effect back" });
COMPLETE_PAGE_SHAPE(event_page, "Events", event_item_shape);
/* clang-format on */

EMBED(ledger_event_list_examples,
    "domain/ledger_reads/examples/ledger.event.list.json");
COMPLETE_LIST_OPERATION(ledger_event_list, event_list_query, event_page,
    .id = "ledger.event.list", .method = "GET", .path = "/api/v2/ledger/events",
    .examples = ledger_event_list_examples, .scope = "trust:read",
    .entitlement = "core-platform", .product = PRODUCT,
    .refusals = REFUSES(&err_conflict),
    .summary = "List the events of the ledger, or those about a record");

/* The places that the page shows, rising. */
struct places {
	uint64_t *seqs;
	size_t n;
	bool more;
};

/* One more than asked for says whether others follow. */
static int
find_by_subject(struct context *c, const struct event_list_query *in,
    int64_t from, size_t limit, struct places *out, struct err *e)
{
	struct str subject = { (const char *)in->subject.b,
		sizeof in->subject.b };
	struct rows r;
	int rc;

	if (db_query(c->db, &r, e,
		"SELECT seq FROM ledger_subject WHERE subject = ? AND seq >= ?"
		" AND (? IS NULL OR kind = ?) ORDER BY seq LIMIT ?",
		"bissi", subject, from, in->subject_kind, in->subject_kind,
		(int64_t)limit + 1))
		return -1;
	while ((rc = rows_next(&r, e)) == 1) {
		if (out->n == limit)
			out->more = true;
		else
			out->seqs[out->n++] = (uint64_t)rows_int(&r, 0);
	}
	return rows_end(&r, e) || rc < 0 ? -1 : 0;
}

static int
find_by_range(struct context *c, int64_t from, size_t limit, struct places *out,
    struct err *e)
{
	uint64_t first = (uint64_t)from, size;

	if (ledger_read_size(c->reading, &size, e))
		return -1;
	if (first >= size)
		return 0;
	out->more = size - first > limit;
	out->n = out->more ? limit : (size_t)(size - first);
	for (size_t i = 0; i < out->n; i++)
		out->seqs[i] = first + i;
	return 0;
}

static struct event_item
item_from(struct arena *a, const struct stored_event *stored)
{
	struct event_subject *subject = ARENA_NEW(a, struct event_subject);
	const struct recorded *recorded = &stored->recorded;
	const struct event *event = &recorded->event;

	*subject = (struct event_subject){ arena_str(a, event->subject_kind),
		event->subject };
	return (struct event_item){
		.id = (int64_t)recorded->seq + 1,
		.seq = (int64_t)recorded->seq,
		.uid = event->uid,
		.at = event->at,
		.type = arena_str(a, event->type),
		.subject = subject,
		.hash = digest_as_text(a, recorded->hash),
		.is_void = stored->revocation != NULL,
	};
}

/* The items of one batch, from place i on; *next is the first of another one.
 * The batch's own bytes go into a scratch arena. */
static int
read_batch(struct context *c, const struct places *p, size_t i, size_t *next,
    struct event_item *items, struct arena *scratch, struct err *e)
{
	struct stored_event *events;
	struct batch_place at;
	uint64_t first = p->seqs[i];
	size_t n;

	if (ledger_read_batch_place(c->reading, first, &at, e))
		return -1;
	for (*next = i; *next < p->n && p->seqs[*next] - at.first < at.count;)
		++*next;
	n = (size_t)(p->seqs[*next - 1] - first) + 1;
	events = arena_array(scratch, n, sizeof *events);
	if (ledger_read_events(c->reading, first, n, scratch, events, e))
		return -1;
	for (; i < *next; i++)
		items[i] = item_from(c->arena, &events[p->seqs[i] - first]);
	return 0;
}

static int
read_items(struct context *c, const struct places *p, struct event_item *items,
    struct err *e)
{
	struct arena *scratch = arena_new();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < p->n;) {
		arena_reset(scratch);
		rc = read_batch(c, p, i, &i, items, scratch, e);
	}
	arena_free(scratch);
	return rc;
}

/* What there is to prove is all events of one record. */
static int
check_query(struct context *c, const struct event_list_query *in, struct err *e)
{
	bool subject = !uid_is_none(in->subject);

	if ((in->proof.p || in->subject_kind.p) && !subject)
		return err_add_field(e, c->arena, "parameter", "subject",
		    "required", "goes with %s",
		    in->proof.p ? "proof" : "subject_kind");
	if (in->proof.p && !in->subject_kind.p)
		return err_add_field(e, c->arena, "parameter", "subject_kind",
		    "required", "goes with proof");
	return complete_refuse_filter(
	    c, in->proof.p && in->from > 0, "from", e);
}

static int
ledger_event_list_read(struct context *c, const struct event_list_query *in,
    struct complete_page *out, struct err *e)
{
	/* An id above after_id is a place of at least after_id. */
	int64_t from = in->from > in->after_id ? in->from : in->after_id;
	size_t limit = (size_t)in->limit;
	struct places p = { .seqs =
				arena_array(c->arena, limit, sizeof *p.seqs) };
	struct event_item *items = arena_array(c->arena, limit, sizeof *items);

	if (check_query(c, in, e))
		return -1;
	if ((uid_is_none(in->subject)
		    ? find_by_range(c, from, limit, &p, e)
		    : find_by_subject(c, in, from, limit, &p, e)) ||
	    read_items(c, &p, items, e))
		return -1;
	out->data = (struct list){ items, p.n };
	out->has_more = p.more;
	if (p.more)
		out->next_after_id =
		    (struct opt_int){ true, items[p.n - 1].id };
	if (!in->proof.p)
		return 0;
	return complete_prove_record(
	    c, in->subject_kind, in->subject, &out->complete, e);
}
