#include "domain/applications/events.h"
#include "domain/applications/group.h"
#include "domain/catalog.h"
#include "domain/words.h"
#include "domain/workspace.h"

struct application_create {
	struct str name, responsible;
	struct str_list scopes, entitlements;
};

struct application_new {
	int64_t id;
	struct uid uid;
	struct str name, responsible, status;
	struct str_list scopes, entitlements;
	struct instant created_at;
};

/* clang-format off */
SHAPE(application_create, "An application to register",
	FIELD(application_create, name, .required = true, .min = 1, .max = 120, .format = &format_text, .doc = "Name, one application of a workspace has it"),
	FIELD(application_create, responsible, .required = true, .min = 1, .max = 120, .format = &format_text, .doc = "The person who answers for it"),
	FIELD(application_create, scopes, .required = true, .min = 1, .max = 100, .doc = "Scopes its credentials may carry"),
	FIELD(application_create, entitlements, .max = 100, .doc = "Products it may use, of those of the workspace; all when not given"));
SHAPE(application_new, "An application that was registered",
	FIELD(application_new, id, .doc = "Number"),
	FIELD(application_new, uid, .doc = "Identifier"),
	FIELD(application_new, name, .doc = "Name"),
	FIELD(application_new, responsible, .doc = "The person who answers for it"),
	FIELD(application_new, status, .doc = "active"),
	FIELD(application_new, scopes, .doc = "Scopes its credentials may carry"),
	FIELD(application_new, entitlements, .doc = "Products it may use"),
	FIELD(application_new, created_at, .doc = "When"));
/* clang-format on */

PREPARE(application_create, application_create)
WRITE_OPERATION(application_create, application_create, application_new,
    .id = "application.create", .command = "application create",
    .product = "Core Platform", .summary = "Register an application",
    .prepare = application_create_prepare_any,
    .emits = EMITS(&event_application_created));

static bool
is_scope(const void *unused, struct str name)
{
	(void)unused;
	return catalog_knows_scope(name);
}

static int
application_create_prepare(
    struct context *c, const struct application_create *in, struct err *e)
{
	return words_check(
	    c->arena, "scopes", in->scopes, is_scope, NULL, "a known scope", e);
}

static int
check_name(struct context *c, struct str name, struct err *e)
{
	int64_t same;

	if (db_get_int(c->db, &same, 0, e,
		"SELECT count(*) FROM application WHERE name = ?"
		" AND status <> 'revoked'",
		"s", name))
		return -1;
	if (same > 0)
		return err_add_field(e, c->arena, "pointer", "#/name",
		    "duplicate", "is the name of another application");
	return 0;
}

static int
application_create_decide(
    struct context *c, const struct application_create *in, struct err *e)
{
	struct application_created data = { in->name, in->responsible,
		in->scopes, in->entitlements };
	struct workspace_record workspace = { 0 };

	if (workspace_find(c, &workspace, e) < 0 ||
	    words_check(c->arena, "entitlements", in->entitlements, words_among,
		&workspace.entitlements, "a product of the workspace", e) ||
	    check_name(c, in->name, e))
		return -1;
	if (in->entitlements.n == 0)
		data.entitlements = workspace.entitlements;
	return context_emit(c, &event_application_created, "application",
	    tx_uid(c->tx), &data, e);
}

static int
application_create_reply(struct context *c, const struct event *ev,
    struct application_new *out, struct err *e)
{
	struct application_created data;

	if (context_event_data(c, ev, &event_application_created, &data, e))
		return -1;
	*out = (struct application_new){
		.uid = ev->subject,
		.name = data.name,
		.responsible = data.responsible,
		.status = STR("active"),
		.scopes = data.scopes,
		.entitlements = data.entitlements,
		.created_at = ev->at,
	};
	return db_get_int(c->db, &out->id, 0, e,
	    "SELECT id FROM application WHERE uid = ?", "u", ev->subject);
}
