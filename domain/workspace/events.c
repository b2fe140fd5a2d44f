#include "domain/workspace/events.h"

#include "domain/words.h"

/* clang-format off */
SHAPE(workspace_created, "A workspace's ledger of one environment came into being",
	FIELD(workspace_created, name, .required = true, .max = 39, .doc = "Name in credentials and paths"),
	FIELD(workspace_created, display_name, .required = true, .max = 120, .doc = "Name for people"),
	FIELD(workspace_created, environment, .required = true, .values = VALUES("sandbox", "production"), .doc = "Environment"),
	FIELD(workspace_created, entitlements, .max = 100, .doc = "Products it may use"));
/* clang-format on */

EVENT_TYPE(workspace_created, "workspace.created", workspace_created,
    "A workspace was created");

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
