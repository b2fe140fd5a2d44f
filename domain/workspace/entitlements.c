#include "domain/catalog.h"
#include "domain/words.h"
#include "domain/workspace.h"

static int
find_change(
    struct context *c, struct str key, struct instant *out, struct err *e)
{
	return db_get_int(c->db, &out->us, 0, e,
	    "SELECT changed_at FROM workspace_entitlement WHERE key = ?", "s",
	    key);
}

int
workspace_entitlements(struct context *c, struct workspace_entitlement **out,
    size_t *n, struct err *e)
{
	struct workspace_record w = { 0 };
	struct workspace_entitlement *items;

	*n = 0;
	while (catalog_entitlements[*n].key)
		++*n;
	items = arena_array(c->arena, *n, sizeof *items);
	if (workspace_find(c, &w, e) < 0)
		return -1;
	for (size_t i = 0; i < *n; i++) {
		struct workspace_entitlement *item = &items[i];

		item->key = str_from(catalog_entitlements[i].key);
		item->title = str_from(catalog_entitlements[i].title);
		item->granted = words_have(w.entitlements, item->key);
		if (find_change(c, item->key, &item->since, e))
			return -1;
		if (item->since.us == 0 && item->granted)
			item->since = w.created_at;
	}
	*out = items;
	return 0;
}
