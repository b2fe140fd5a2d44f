/*
 * workspace create: makes the ledger of the place, then records whose it is.
 * The two are not one step; when the second did not happen, the same command
 * finds the ledger there and finishes.
 */
#include "domain/catalog.h"
#include "domain/service.h"
#include "domain/words.h"
#include "domain/workspace.h"
#include "domain/workspace/events.h"
#include "domain/workspace/group.h"
#include "ledger/base/io.h"
#include "ledger/write/index.h"

struct workspace_create {
	struct str name;
	struct str_list entitlements;
};

struct workspace_new {
	int64_t id;
	struct uid uid;
	struct str name, display_name, environment;
	struct str_list entitlements;
	struct instant created_at;
};

/* clang-format off */
SHAPE(workspace_create, "A workspace to create; --workspace and --environment say which",
	FIELD(workspace_create, name, .min = 1, .max = 120, .format = &format_text, .doc = "Name for people; the workspace's own when not given"),
	FIELD(workspace_create, entitlements, .max = 100, .doc = "Products it may use; all when not given"));
SHAPE(workspace_new, "A workspace that was created",
	FIELD(workspace_new, id, .doc = "Number"),
	FIELD(workspace_new, uid, .doc = "Identifier"),
	FIELD(workspace_new, name, .doc = "Name in credentials and paths"),
	FIELD(workspace_new, display_name, .doc = "Name for people"),
	FIELD(workspace_new, environment, .doc = "sandbox or production"),
	FIELD(workspace_new, entitlements, .doc = "Products it may use"),
	FIELD(workspace_new, created_at, .doc = "When"));
/* clang-format on */

PREPARE(workspace_create, workspace_create)
WRITE_OPERATION(workspace_create, workspace_create, workspace_new,
    .id = "workspace.create", .command = "workspace create", .no_ledger = true,
    .product = "Core Platform", .summary = "Create a workspace and its ledger",
    .prepare = workspace_create_prepare_any,
    .emits = EMITS(&event_workspace_created, &event_ledger_indexed));

bool
workspace_knows_entitlement(const void *unused, struct str key)
{
	(void)unused;
	return catalog_knows_entitlement(key);
}

static int
make_ledger(struct context *c, struct err *e)
{
	struct actor actor = { .kind = STR("operator"),
		.id = c->caller->operator_name };
	struct ledger_options options;
	struct err cause = { 0 };

	if (service_ledger_options(
		c->service, c->place, c->arena, &options, e) ||
	    io_make_dirs(options.keys_dir, 0700, e))
		return -1;
	if (ledger_create(&options, &actor, &cause) &&
	    cause.kind != &err_conflict) {
		*e = cause;
		return -1;
	}
	return service_acquire(c->service, c->place, &c->ledger, e);
}

static int
workspace_create_prepare(
    struct context *c, const struct workspace_create *in, struct err *e)
{
	if (!workspace_name_is_valid(c->place->workspace))
		return err_add_field(e, c->arena, "pointer", "#/workspace",
		    "format",
		    "must be 1 to 39 small letters, digits and single dashes, "
		    "not beginning with a dash");
	if (words_check(c->arena, "entitlements", in->entitlements,
		workspace_knows_entitlement, NULL, "a known product", e))
		return -1;
	return c->ledger ? 0 : make_ledger(c, e);
}

struct str_list
workspace_all_entitlements(struct arena *a)
{
	struct str *items;
	size_t n = 0;

	while (catalog_entitlements[n].key)
		n++;
	items = arena_array(a, n, sizeof *items);
	for (size_t i = 0; i < n; i++)
		items[i] = str_from(catalog_entitlements[i].key);
	return (struct str_list){ items, n };
}

static int
workspace_create_decide(
    struct context *c, const struct workspace_create *in, struct err *e)
{
	struct workspace_created data = {
		.name = c->place->workspace,
		.display_name = in->name.p ? in->name : c->place->workspace,
		.environment = c->place->environment,
		.entitlements = in->entitlements.n
				    ? in->entitlements
				    : workspace_all_entitlements(c->arena),
	};
	struct workspace_record existing;
	int found = workspace_find(c, &existing, e);

	if (found < 0)
		return -1;
	if (found == 1)
		return err_set(e, &err_conflict,
		    "the workspace %.*s has its %.*s ledger already",
		    STR_ARGS(data.name), STR_ARGS(data.environment));
	if (context_emit(c, &event_workspace_created, "workspace",
		tx_uid(c->tx), &data, e))
		return -1;
	return ledger_begin_index(c->tx, e);
}

static int
workspace_create_reply(struct context *c, const struct event *ev,
    struct workspace_new *out, struct err *e)
{
	struct workspace_created data;

	if (context_event_data(c, ev, &event_workspace_created, &data, e))
		return -1;
	*out = (struct workspace_new){
		.id = 1, /* a ledger has one workspace */
		.uid = ev->subject,
		.name = data.name,
		.display_name = data.display_name,
		.environment = data.environment,
		.entitlements = data.entitlements,
		.created_at = ev->at,
	};
	return 0;
}
