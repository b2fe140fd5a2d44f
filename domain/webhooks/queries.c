/* Registrations as their applications see them, and all, for operators. */
#include "domain/webhooks/group.h"
#include "domain/words.h"
#include "ledger/base/embed.h"

struct webhook_view {
	int64_t id;
	struct uid uid, application_uid;
	struct str url, description;
	struct str_list events;
	struct str status, public_key;
	struct instant created_at, changed_at;
};

struct webhook_query {
	int64_t limit, after_id;
};

/* clang-format off */
SHAPE(webhook_view, "A webhook; its secret is shown nowhere",
	FIELD(webhook_view, id, .doc = "Number"),
	FIELD(webhook_view, uid, .required = true, .doc = "Identifier"),
	FIELD(webhook_view, application_uid, .required = true, .doc = "The application that registered it"),
	FIELD(webhook_view, url, .required = true, .doc = "Endpoint"),
	FIELD(webhook_view, description, .doc = "What it is for"),
	FIELD(webhook_view, events, .doc = "Names of the events it wants"),
	FIELD(webhook_view, status, .required = true, .doc = "active, pending_approval, disabled (the endpoint said that it is gone) or revoked"),
	FIELD(webhook_view, public_key, .required = true, .doc = "The public key of v1a signatures"),
	FIELD(webhook_view, created_at, .required = true, .doc = "When it was registered"),
	FIELD(webhook_view, changed_at, .doc = "When its status or secret changed last"));
SHAPE(webhook_query, "Which part of the list", PAGE_QUERY(webhook_query));
PAGE_SHAPE(webhook_page, "Webhooks", webhook_view_shape);
/* clang-format on */

EMBED(webhook_list_examples,
    "domain/webhooks/examples/agent_execution.webhooks.json");

LIST_OPERATION(webhook_list, webhook_query, webhook_page,
    .id = "agent_execution.webhooks", .method = "GET",
    .path = "/api/v2/agent-execution/webhooks", .command = "webhook list",
    .examples = webhook_list_examples, .scope = "agent:execution:webhooks",
    .entitlement = "agents", .product = "Agents & MCP",
    .summary = "List webhooks, without secrets");

static struct webhook_view
view_from(struct rows *r, struct arena *a)
{
	return (struct webhook_view){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.application_uid = rows_uid(r, 2),
		.url = rows_str(r, 3, a),
		.description = rows_str(r, 4, a),
		.events = words_split(a, rows_str(r, 5, a)),
		.status = rows_str(r, 6, a),
		.public_key = rows_str(r, 7, a),
		.created_at = rows_instant(r, 8),
		.changed_at = rows_instant(r, 9),
	};
}

static int
webhook_list_read(struct context *c, const struct webhook_query *in,
    struct page *out, struct err *e)
{
	struct webhook_view *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, application, url, description, events, status,"
		" public_key, created_at, changed_at FROM webhook"
		" WHERE id > ?1 AND (?2 IS NULL OR application = ?2)"
		" ORDER BY id LIMIT ?3",
		"iui", in->after_id, c->caller->application, in->limit + 1))
		return -1;
	out->data.items = items;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = view_from(&r, c->arena);
	}
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return rows_end(&r, e);
}
