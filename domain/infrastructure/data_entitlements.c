/*
 * GET /infrastructure/data-entitlements: each entitlement there is, whether the
 * workspace has it, and which operations it opens.
 */
#include "domain/catalog.h"
#include "domain/infrastructure/group.h"
#include "domain/workspace.h"
#include "ledger/base/embed.h"

struct entitlement_query {
	int64_t limit, after_id;
};

struct data_entitlement {
	int64_t id;
	struct str key, title;
	bool granted;
	struct instant since;
	struct str_list operations;
};

/* clang-format off */
SHAPE(entitlement_query, "Which part of the list", PAGE_QUERY(entitlement_query));
SHAPE(data_entitlement, "A group of operations",
	FIELD(data_entitlement, id, .doc = "Number in this list"),
	FIELD(data_entitlement, key, .required = true, .doc = "Its name, as workspaces and applications list it"),
	FIELD(data_entitlement, title, .required = true, .doc = "Its name for people"),
	FIELD(data_entitlement, granted, .doc = "Whether the workspace has it; an application needs it as well"),
	FIELD(data_entitlement, since, .doc = "Since when it is granted, or was taken away; null: it never was granted"),
	FIELD(data_entitlement, operations, .doc = "Identifiers of the operations that need it"));
PAGE_SHAPE(entitlement_page, "Entitlements", data_entitlement_shape);
/* clang-format on */

EMBED(infrastructure_data_entitlements_examples,
    "domain/infrastructure/examples/infrastructure.data_entitlements.json");
LIST_OPERATION(infrastructure_data_entitlements, entitlement_query,
    entitlement_page, .id = "infrastructure.data_entitlements", .method = "GET",
    .path = "/api/v2/infrastructure/data-entitlements",
    .examples = infrastructure_data_entitlements_examples,
    .scope = "infrastructure:read", .entitlement = "infrastructure",
    .product = "Core Platform",
    .summary = "List the entitlements of the workspace");

static bool
needs(const struct operation *op, struct str key)
{
	return op->method && op->entitlement && str_is(key, op->entitlement);
}

/* Counts with items NULL. */
static size_t
collect_operations(struct str key, struct str *items)
{
	size_t n = 0;

	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *row =
		    catalog_groups[i]->operations;

		for (; row && *row; row++) {
			if (!needs(*row, key))
				continue;
			if (items)
				items[n] = str_from((*row)->id);
			n++;
		}
	}
	return n;
}

static struct str_list
operations_of(struct arena *a, struct str key)
{
	size_t n = collect_operations(key, NULL);
	struct str *items = arena_array(a, n ? n : 1, sizeof *items);

	collect_operations(key, items);
	return (struct str_list){ items, n };
}

/* The catalog is the same for all, so the id is the place in its order. */
static int
infrastructure_data_entitlements_read(struct context *c,
    const struct entitlement_query *in, struct page *out, struct err *e)
{
	struct workspace_entitlement *all;
	struct data_entitlement *items;
	size_t n, first = (size_t)in->after_id, limit = (size_t)in->limit;

	if (workspace_entitlements(c, &all, &n, e))
		return -1;
	items = arena_array(c->arena, n, sizeof *items);
	for (size_t i = first; i < n && out->data.n < limit; i++)
		items[out->data.n++] = (struct data_entitlement){
			.id = (int64_t)i + 1,
			.key = all[i].key,
			.title = all[i].title,
			.granted = all[i].granted,
			.since = all[i].since,
			.operations = operations_of(c->arena, all[i].key),
		};
	out->data.items = items;
	out->has_more = n > first && n - first > out->data.n;
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, (int64_t)(first + out->data.n) };
	return 0;
}
