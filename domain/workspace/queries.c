#include "domain/service.h"
#include "domain/words.h"
#include "domain/workspace.h"
#include "domain/workspace/group.h"
#include "ledger/base/embed.h"

int
workspace_find(struct context *c, struct workspace_record *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, name, display_name, environment,"
		" entitlements, created_at FROM workspace ORDER BY id LIMIT 1",
		""))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct workspace_record){
			.id = rows_int(&r, 0),
			.uid = rows_uid(&r, 1),
			.name = rows_str(&r, 2, c->arena),
			.display_name = rows_str(&r, 3, c->arena),
			.environment = rows_str(&r, 4, c->arena),
			.entitlements =
			    words_split(c->arena, rows_str(&r, 5, c->arena)),
			.created_at = rows_instant(&r, 6),
		};
	if (rows_end(&r, e))
		return -1;
	return found;
}

struct ledger_identity {
	struct str origin;
	int64_t size;
	struct str public_key;
};

struct workspace {
	int64_t id;
	struct uid uid;
	struct str name, display_name, environment;
	struct str_list entitlements, scopes;
	const void *ledger;
	struct instant created_at;
};

/* clang-format off */
SHAPE(ledger_identity, "The ledger that the workspace's records are kept in",
	FIELD(ledger_identity, origin, .required = true, .doc = "Its name"),
	FIELD(ledger_identity, size, .doc = "Events at the position of this reply"),
	FIELD(ledger_identity, public_key, .required = true, .doc = "Key that signs it, as an OpenSSH line"));
SHAPE(workspace, "The workspace of the credential",
	FIELD(workspace, id, .doc = "Number"),
	FIELD(workspace, uid, .required = true, .doc = "Identifier"),
	FIELD(workspace, name, .required = true, .doc = "Name in credentials and paths"),
	FIELD(workspace, display_name, .required = true, .doc = "Name for people"),
	FIELD(workspace, environment, .required = true, .values = VALUES("sandbox", "production"), .doc = "sandbox or production"),
	FIELD(workspace, entitlements, .doc = "Products that the workspace may use"),
	FIELD(workspace, scopes, .doc = "Scopes of this credential"),
	FIELD(workspace, ledger, .required = true, .of = &ledger_identity_shape, .doc = "Its ledger"),
	FIELD(workspace, created_at, .required = true, .doc = "When it was created"));
/* clang-format on */

EMBED(workspace_show_examples, "domain/workspace/examples/workspace.show.json");
READ_OPERATION(workspace_show, nothing, workspace, .id = "workspace.show",
    .method = "GET", .path = "/api/v2/workspace",
    .examples = workspace_show_examples, .command = "workspace show",
    .scope = "workspace:read", .product = "Core Platform",
    .summary = "Show the workspace of the credential");

static int
workspace_show_read(struct context *c, const struct nothing *in,
    struct workspace *out, struct err *e)
{
	struct ledger_identity *ledger =
	    ARENA_NEW(c->arena, struct ledger_identity);
	char key[PUBLIC_KEY_SSH + 1];
	struct workspace_record w;
	struct signers signers;
	uint64_t size;
	int found = workspace_find(c, &w, e);

	(void)in;
	if (found < 0 || ledger_read_size(c->reading, &size, e) ||
	    ledger_read_keys(c->reading, &signers, e))
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found,
		    "the workspace is not recorded; create it again");
	public_key_ssh(signers_in_force(&signers)->key, key);
	*ledger = (struct ledger_identity){
		.origin = ledger_origin(c->ledger),
		.size = (int64_t)size,
		.public_key = arena_str(c->arena, str_from(key)),
	};
	*out = (struct workspace){
		.id = w.id,
		.uid = w.uid,
		.name = w.name,
		.display_name = w.display_name,
		.environment = w.environment,
		.entitlements = w.entitlements,
		.scopes = { c->caller->scopes, c->caller->n_scopes },
		.ledger = ledger,
		.created_at = w.created_at,
	};
	return 0;
}

struct workspace_query {
	int64_t limit, after_id;
};

struct workspace_place {
	int64_t id;
	struct str workspace, environment, origin;
};

/* clang-format off */
SHAPE(workspace_place, "A ledger on this machine",
	FIELD(workspace_place, id, .doc = "Number in this list"),
	FIELD(workspace_place, workspace, .doc = "Workspace"),
	FIELD(workspace_place, environment, .doc = "sandbox or production"),
	FIELD(workspace_place, origin, .doc = "The ledger's name"));
PAGE_SHAPE(workspace_places, "The ledgers on this machine", workspace_place_shape);
SHAPE(workspace_query, "Which part of the list",
	PAGE_QUERY(workspace_query));
/* clang-format on */

LIST_OPERATION(workspace_list, workspace_query, workspace_places,
    .id = "workspace.list", .command = "workspace list", .no_ledger = true,
    .product = "Core Platform", .summary = "List the ledgers on this machine");

/* A successor's origin is what its operator chose. Of a ledger that cannot be
 * read the list says what a first one is called. */
static int
origin_of(struct context *c, const struct place *place, struct str *out,
    struct err *e)
{
	struct ledger_options options;
	struct err ignored = { 0 };

	if (service_ledger_options(c->service, place, c->arena, &options, e))
		return -1;
	if (ledger_find_origin(options.dir, c->arena, out, &ignored))
		*out = options.origin;
	return 0;
}

/* Places have no record in common, so the id is the place in the sorted list.
 */
static int
workspace_list_read(struct context *c, const struct workspace_query *in,
    struct page *out, struct err *e)
{
	struct place *places;
	struct workspace_place *items;
	size_t n, first = (size_t)in->after_id;
	size_t limit = (size_t)in->limit;

	if (service_places(c->service, c->arena, &places, &n, e))
		return -1;
	items = arena_array(c->arena, limit, sizeof *items);
	for (size_t i = first; i < n && out->data.n < limit; i++) {
		struct str origin;

		if (origin_of(c, &places[i], &origin, e))
			return -1;
		items[out->data.n++] = (struct workspace_place){
			.id = (int64_t)i + 1,
			.workspace = places[i].workspace,
			.environment = places[i].environment,
			.origin = origin,
		};
	}
	out->data.items = items;
	out->has_more = n > first && n - first > out->data.n;
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, (int64_t)(first + out->data.n) };
	return 0;
}
