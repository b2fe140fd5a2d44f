/* webhook deliveries and dead-letters: what an operator sees of the outbox. */
#include "domain/webhooks/group.h"

struct attempt_view {
	int64_t number;
	struct instant at;
	struct str worker, outcome;
	struct opt_int status;
	int64_t duration_ms;
	struct str fault;
	struct instant next_at;
};

struct delivery_view {
	int64_t id;
	struct uid uid, webhook_uid;
	struct str event;
	int64_t seq;
	struct uid subject_uid;
	struct str status;
	struct list attempts;
	struct instant queued_at, next_at, ended_at;
};

struct delivery_query {
	struct uid webhook;
	struct str status;
	int64_t limit, after_id;
};

struct dead_letter_query {
	struct uid webhook;
	int64_t limit, after_id;
};

/* clang-format off */
SHAPE(attempt_view, "An attempt to deliver",
	FIELD(attempt_view, number, .doc = "Which attempt, from 1"),
	FIELD(attempt_view, at, .doc = "When it began"),
	FIELD(attempt_view, worker, .doc = "Who made it"),
	FIELD(attempt_view, outcome, .doc = "delivered; retry: another follows; dead: none follows; late: the delivery had ended"),
	FIELD(attempt_view, status, .doc = "HTTP status; null: there was no answer"),
	FIELD(attempt_view, duration_ms, .doc = "Milliseconds that it took"),
	FIELD(attempt_view, fault, .doc = "Why it failed"),
	FIELD(attempt_view, next_at, .doc = "When the next may begin"));
SHAPE(delivery_view, "A delivery of an event to a webhook",
	FIELD(delivery_view, id, .doc = "Number"),
	FIELD(delivery_view, uid, .doc = "Identifier; webhook-id is msg_ and this"),
	FIELD(delivery_view, webhook_uid, .doc = "The webhook"),
	FIELD(delivery_view, event, .doc = "Name of the event"),
	FIELD(delivery_view, seq, .doc = "The event's place in the ledger"),
	FIELD(delivery_view, subject_uid, .doc = "The record that the event is about"),
	FIELD(delivery_view, status, .doc = "queued, delivered or dead"),
	FIELD(delivery_view, attempts, .of = &attempt_view_shape, .max = 200, .doc = "The latest attempts, in their order"),
	FIELD(delivery_view, queued_at, .doc = "When the event happened"),
	FIELD(delivery_view, next_at, .doc = "When the next attempt may begin"),
	FIELD(delivery_view, ended_at, .doc = "When it was delivered, or given up"));
SHAPE(delivery_query, "Which deliveries",
	FIELD(delivery_query, webhook, .place = IN_QUERY, .doc = "Only those of this webhook"),
	FIELD(delivery_query, status, .place = IN_QUERY, .values = VALUES("queued", "delivered", "dead"), .doc = "Only those with this status"),
	PAGE_QUERY(delivery_query));
SHAPE(dead_letter_query, "Which dead letters",
	FIELD(dead_letter_query, webhook, .place = IN_QUERY, .doc = "Only those of this webhook"),
	PAGE_QUERY(dead_letter_query));
PAGE_SHAPE(delivery_page, "Deliveries", delivery_view_shape);
/* clang-format on */

LIST_OPERATION(webhook_deliveries, delivery_query, delivery_page,
    .id = "webhook.deliveries", .command = "webhook deliveries",
    .product = "Agents & MCP", .summary = "List deliveries and their attempts");
LIST_OPERATION(webhook_dead_letters, dead_letter_query, delivery_page,
    .id = "webhook.dead_letters", .command = "webhook dead-letters",
    .product = "Agents & MCP", .summary = "List deliveries that were given up");

/* More come only of replays. */
#define ATTEMPTS 200

static struct attempt_view
attempt_from(struct rows *r, struct arena *a)
{
	return (struct attempt_view){
		.number = rows_int(r, 0),
		.at = rows_instant(r, 1),
		.worker = rows_str(r, 2, a),
		.outcome = rows_str(r, 3, a),
		.status = rows_opt_int(r, 4),
		.duration_ms = rows_int(r, 5),
		.fault = rows_str(r, 6, a),
		.next_at = rows_instant(r, 7),
	};
}

static int
read_attempts(
    struct context *c, int64_t delivery, struct list *out, struct err *e)
{
	struct attempt_view *items;
	struct rows r;
	int64_t last;

	if (db_get_int(c->db, &last, 0, e,
		"SELECT coalesce(max(number), 0) FROM webhook_attempt"
		" WHERE delivery_id = ?",
		"i", delivery) ||
	    db_query(c->db, &r, e,
		"SELECT number, at, worker, outcome, http_status, duration_ms,"
		" fault, next_at FROM webhook_attempt"
		" WHERE delivery_id = ? AND number > ? ORDER BY number",
		"ii", delivery, last - ATTEMPTS))
		return -1;
	items = arena_array(c->arena,
	    (size_t)(last < ATTEMPTS ? last : ATTEMPTS) + 1, sizeof *items);
	while (out->n < ATTEMPTS && rows_next(&r, e) == 1)
		items[out->n++] = attempt_from(&r, c->arena);
	out->items = items;
	return rows_end(&r, e);
}

static struct delivery_view
delivery_from(struct rows *r, struct arena *a)
{
	return (struct delivery_view){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.webhook_uid = rows_uid(r, 2),
		.event = rows_str(r, 3, a),
		.seq = rows_int(r, 4),
		.subject_uid = rows_uid(r, 5),
		.status = rows_str(r, 6, a),
		.queued_at = rows_instant(r, 7),
		.next_at = rows_instant(r, 8),
		.ended_at = rows_instant(r, 9),
	};
}

static int
read_page(struct context *c, const struct delivery_query *in,
    struct delivery_view *items, struct page *out, struct err *e)
{
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT d.id, d.uid, w.uid, d.event, d.seq, d.subject,"
		" d.status, d.at, d.next_at, d.ended_at FROM webhook_delivery d"
		" JOIN webhook w ON w.id = d.webhook_id WHERE d.id > ?1"
		" AND (?2 IS NULL OR w.uid = ?2)"
		" AND (?3 IS NULL OR d.status = ?3) ORDER BY d.id LIMIT ?4",
		"iusi", in->after_id, in->webhook, in->status, in->limit + 1))
		return -1;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = delivery_from(&r, c->arena);
	}
	return rows_end(&r, e);
}

static int
webhook_deliveries_read(struct context *c, const struct delivery_query *in,
    struct page *out, struct err *e)
{
	struct delivery_view *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);

	out->data.items = items;
	if (read_page(c, in, items, out, e))
		return -1;
	for (size_t i = 0; i < out->data.n; i++)
		if (read_attempts(c, items[i].id, &items[i].attempts, e))
			return -1;
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return 0;
}

static int
webhook_dead_letters_read(struct context *c, const struct dead_letter_query *in,
    struct page *out, struct err *e)
{
	struct delivery_query query = {
		.webhook = in->webhook,
		.status = STR("dead"),
		.limit = in->limit,
		.after_id = in->after_id,
	};

	return webhook_deliveries_read(c, &query, out, e);
}
