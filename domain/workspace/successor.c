/*
 * What a ledger's successor begins with: the record of the workspace, under the
 * same uid, and the index. Nothing else is carried over (docs/decisions/0011).
 */
#include "domain/service.h"
#include "domain/workspace.h"
#include "domain/workspace/events.h"
#include "ledger/write/index.h"

struct heir {
	struct context context; /* arena and, while it is read, tables */
	struct workspace_record record;
};

static int
read_record(void *arg, struct reading *reading, struct err *e)
{
	struct heir *h = arg;
	int found;

	h->context.db = reading->db;
	found = workspace_find(&h->context, &h->record, e);
	if (found == 0)
		return err_set(e, &err_conflict,
		    "the ledger has no workspace yet: finish the command "
		    "workspace create first");
	return found < 0 ? -1 : 0;
}

static int
begin(struct tx *tx, void *arg, struct err *e)
{
	const struct heir *h = arg;
	const struct workspace_record *w = &h->record;
	struct workspace_created data = {
		.name = w->name,
		.display_name = w->display_name,
		.environment = w->environment,
		.entitlements = w->entitlements,
	};
	struct context c = { .arena = tx_arena(tx), .db = tx_db(tx) };
	struct workspace_record there;
	int found = workspace_find(&c, &there, e);

	if (found != 0)
		return found < 0 ? -1 : 0;
	if (tx_emit(tx, &event_workspace_created, "workspace", w->uid, &data,
		NULL, 0, e))
		return -1;
	return ledger_begin_index(tx, e);
}

int
workspace_succeed(struct service *service, const struct place *place,
    struct str operator_name, const struct ledger_closed *closing,
    struct succession_report *report, struct err *e)
{
	struct arena *a = arena_new();
	struct heir heir = { .context = { .arena = a } };
	struct ledger_options options;
	struct succession s = {
		.place = &options,
		.actor = { .kind = STR("operator"), .id = operator_name },
		.closing = *closing,
		.read = read_record,
		.begin = begin,
		.arg = &heir,
	};
	int rc = service_ledger_options(service, place, a, &options, e);

	if (rc == 0 && place->closed > 0)
		rc = err_set(e, &err_conflict,
		    "the ledger was closed and continued before");
	if (rc == 0)
		rc = ledger_succeed(&s, report, e);
	arena_free(a);
	return rc;
}
