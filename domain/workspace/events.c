#include "domain/workspace/events.h"

#include "domain/words.h"

/* clang-format off */
SHAPE(workspace_created, "A workspace's ledger of one environment came into being",
	FIELD(workspace_created, name, .required = true, .max = 39, .doc = "Name in credentials and paths"),
	FIELD(workspace_created, display_name, .required = true, .max = 120, .doc = "Name for people"),
	FIELD(workspace_created, environment, .required = true, .values = VALUES("sandbox", "production"), .doc = "Environment"),
	FIELD(workspace_created, entitlements, .max = 100, .doc = "Products it may use"));
SHAPE(workspace_entitlements_set, "The entitlements of a workspace changed",
	FIELD(workspace_entitlements_set, changed, .max = 100, .doc = "Those given, or taken"),
	FIELD(workspace_entitlements_set, entitlements, .max = 100, .doc = "All that the workspace has since"),
	FIELD(workspace_entitlements_set, reason, .max = 280, .doc = "Why"));
/* clang-format on */

EVENT_TYPE(workspace_created, "workspace.created", workspace_created,
    "A workspace was created");
EVENT_TYPE(workspace_entitled, "workspace.entitled", workspace_entitlements_set,
    "An operator gave the workspace further groups of operations");
EVENT_TYPE(workspace_disentitled, "workspace.disentitled",
    workspace_entitlements_set,
    "An operator took groups of operations from the workspace");

static int
project_workspace_created(struct db *db, const struct event *ev,
    const struct workspace_created *d, struct err *e)
{
	struct arena *a = arena_new();
	int result = db_run(db, e,
	    "INSERT INTO workspace (uid, name, display_name, environment,"
	    " entitlements, created_at) VALUES (?, ?, ?, ?, ?, ?)",
	    "usssst", ev->subject, d->name, d->display_name, d->environment,
	    words_join(a, d->entitlements), ev->at);

	arena_free(a);
	return result;
}

/* When each of the changed ones came or went; the others stand as they did. */
static int
note_changes(struct db *db, const struct event *ev, struct str_list changed,
    struct err *e)
{
	for (size_t i = 0; i < changed.n; i++)
		if (db_run(db, e,
			"INSERT INTO workspace_entitlement (key, changed_at)"
			" VALUES (?, ?) ON CONFLICT (key)"
			" DO UPDATE SET changed_at = excluded.changed_at",
			"st", changed.items[i], ev->at))
			return -1;
	return 0;
}

static int
set_entitlements(struct db *db, const struct event *ev,
    const struct workspace_entitlements_set *d, struct err *e)
{
	struct arena *a = arena_new();
	int result =
	    db_run(db, e, "UPDATE workspace SET entitlements = ? WHERE uid = ?",
		"su", words_join(a, d->entitlements), ev->subject);

	arena_free(a);
	return result ? result : note_changes(db, ev, d->changed, e);
}

static int
project_workspace_entitled(struct db *db, const struct event *ev,
    const struct workspace_entitlements_set *d, struct err *e)
{
	return set_entitlements(db, ev, d, e);
}

static int
project_workspace_disentitled(struct db *db, const struct event *ev,
    const struct workspace_entitlements_set *d, struct err *e)
{
	return set_entitlements(db, ev, d, e);
}
