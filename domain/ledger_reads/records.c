/*
 * The records of one kind that events are about, straight from the index: for
 * auditors who ask what there is at all, whatever kind it is.
 */
#include "domain/complete.h"
#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"
#include "ledger/base/embed.h"
#include "ledger/write/index.h"

struct record_list_query {
	struct str kind, proof;
	struct uid after;
	int64_t limit;
};

struct record_item {
	struct uid uid;
	int64_t events;
	struct digest_text chain;
};

struct record_list {
	struct list data;
	bool has_more;
	struct uid next_after;
	const void *complete;
};

/* clang-format off */
SHAPE(record_list_query, "Which records",
	FIELD(record_list_query, kind, .place = IN_QUERY, .required = true, .min = 1, .max = INDEX_KIND_MAX, .doc = "Their kind, as it is in the subject of their events: action, counterparty, credential, …"),
	FIELD(record_list_query, after, .place = IN_QUERY, .doc = "Only records with a greater identifier"),
	FIELD(record_list_query, limit, .place = IN_QUERY, .min = 1, .max = 200, .def = "50", .doc = "Records a page, 1 to 200"),
	COMPLETE_QUERY(record_list_query));
SHAPE(record_item, "A record that events are about",
	FIELD(record_item, uid, .required = true, .doc = "Identifier"),
	FIELD(record_item, events, .doc = "How many events are about it"),
	FIELD(record_item, chain, .required = true, .doc = "Their hashes, chained"));
SHAPE(record_list, "Records",
	FIELD(record_list, data, .of = &record_item_shape, .max = 200, .doc = "The records, by rising identifier"),
	FIELD(record_list, has_more, .doc = "Whether more follow"),
	FIELD(record_list, next_after, .doc = "after of the next page; null on the last"),
	COMPLETE_FIELD(record_list));
/* clang-format on */

EMBED(ledger_record_list_examples,
    "domain/ledger_reads/examples/ledger.record.list.json");
READ_OPERATION(ledger_record_list, record_list_query, record_list,
    .id = "ledger.record.list", .method = "GET",
    .examples = ledger_record_list_examples, .path = "/api/v2/ledger/records",
    .scope = "trust:read", .entitlement = "core-platform", .product = PRODUCT,
    .refusals = REFUSES(&err_conflict),
    .summary = "List the records of a kind that events are about");

/* These are what an event about something else brought: it would be true, and
 * misleading, that no event is about one of them. */
static int
refuse_kind(struct context *c, struct str kind, struct err *e)
{
	static const char *const kinds[] = { "source_record", "obligation",
		"entitlement", "invoice", "statement_entry" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (str_is(kind, kinds[i]))
			return err_add_field(e, c->arena, "parameter", "kind",
			    "not_indexed",
			    "source records are sealed by events about their "
			    "import: ask for source_import");
	return 0;
}

static int
range_of(struct context *c, const struct record_list_query *in,
    struct index_range *range, struct err *e)
{
	struct uid none = { { 0 } };

	if (index_range_of_kind(range, in->kind, in->after, none, NULL))
		return err_add_field(e, c->arena, "parameter", "kind", "format",
		    "must be small letters, digits and underscores");
	return refuse_kind(c, in->kind, e);
}

static int
ledger_record_list_read(struct context *c, const struct record_list_query *in,
    struct record_list *out, struct err *e)
{
	struct index_record *found;
	struct index_range range;
	struct record_item *items;
	size_t n, limit = (size_t)in->limit;

	if (range_of(c, in, &range, e) ||
	    ledger_read_records(
		c->reading, &range, limit + 1, c->arena, &found, &n, e))
		return -1;
	out->has_more = n > limit;
	n = out->has_more ? limit : n;
	items = arena_array(c->arena, n, sizeof *items);
	for (size_t i = 0; i < n; i++)
		items[i] = (struct record_item){ found[i].uid, found[i].events,
			digest_as_text(c->arena, found[i].chain) };
	out->data = (struct list){ items, n };
	if (out->has_more)
		out->next_after = items[n - 1].uid;
	if (!in->proof.p)
		return 0;
	return complete_prove_kind(
	    c, in->kind, in->after, out->next_after, &out->complete, e);
}
