#include "domain/applications.h"
#include "domain/applications/group.h"
#include "domain/as_of.h"
#include "domain/words.h"

struct application {
	int64_t id;
	struct uid uid;
	struct str name, responsible, status;
	struct str_list scopes, entitlements;
	struct instant created_at, changed_at;
};

struct application_query {
	int64_t limit, after_id;
};

struct application_uid {
	struct uid uid;
	struct opt_int as_of;
};

/* clang-format off */
SHAPE(application, "An application",
	FIELD(application, id, .doc = "Number"),
	FIELD(application, uid, .doc = "Identifier"),
	FIELD(application, name, .doc = "Name"),
	FIELD(application, responsible, .doc = "The person who answers for it"),
	FIELD(application, status, .doc = "active, suspended or revoked"),
	FIELD(application, scopes, .doc = "Scopes its credentials may carry"),
	FIELD(application, entitlements, .doc = "Products it may use"),
	FIELD(application, created_at, .doc = "When it was registered"),
	FIELD(application, changed_at, .doc = "When its status changed last"));
SHAPE(application_query, "Which part of the list", PAGE_QUERY(application_query));
SHAPE(application_uid, "One application",
	FIELD(application_uid, uid, .required = true, .doc = "Its identifier"),
	FIELD(application_uid, as_of, AS_OF_FIELD));
PAGE_SHAPE(application_page, "Applications", application_shape);
/* clang-format on */

LIST_OPERATION(application_list, application_query, application_page,
    .id = "application.list", .command = "application list",
    .product = "Core Platform", .summary = "List applications");
READ_OPERATION(application_show, application_uid, application,
    .id = "application.show", .command = "application show",
    .product = "Core Platform", .summary = "Show an application");

static struct application
application_from(struct rows *r, struct arena *a)
{
	return (struct application){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.name = rows_str(r, 2, a),
		.responsible = rows_str(r, 3, a),
		.status = rows_str(r, 4, a),
		.scopes = words_split(a, rows_str(r, 5, a)),
		.entitlements = words_split(a, rows_str(r, 6, a)),
		.created_at = rows_instant(r, 7),
		.changed_at = rows_instant(r, 8),
	};
}

#define APPLICATION_COLUMNS                                                \
	"SELECT id, uid, name, responsible, status, scopes, entitlements," \
	" created_at, changed_at FROM application "

static int
application_list_read(struct context *c, const struct application_query *in,
    struct page *out, struct err *e)
{
	struct application *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);
	struct rows r;

	if (db_query(c->db, &r, e,
		APPLICATION_COLUMNS "WHERE id > ? ORDER BY id LIMIT ?", "ii",
		in->after_id, in->limit + 1))
		return -1;
	out->data.items = items;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = application_from(&r, c->arena);
	}
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return rows_end(&r, e);
}

/* The status that each event about an application brings. */
static struct str
status_after(const struct stored_event *version)
{
	struct str what = as_of_participle(version);

	if (str_is(what, "created") || str_is(what, "resumed"))
		return STR("active");
	return what;
}

static int
application_as_of(struct context *c, const struct application_uid *in,
    struct application *out, struct err *e)
{
	struct stored_event version;

	if (!in->as_of.set)
		return 0;
	if (as_of_find(c, in->uid, "application.", in->as_of, &version, e))
		return -1;
	out->status = status_after(&version);
	out->changed_at = version.recorded.event.at;
	return 0;
}

static int
application_show_read(struct context *c, const struct application_uid *in,
    struct application *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e, APPLICATION_COLUMNS "WHERE uid = ?", "u",
		in->uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = application_from(&r, c->arena);
	if (rows_end(&r, e))
		return -1;
	if (found != 1)
		return err_set(
		    e, &err_not_found, "there is no such application");
	return application_as_of(c, in, out, e);
}

void
credential_owner_from(
    const struct rows *r, int first, struct arena *a, struct credential *out)
{
	out->application = rows_uid(r, first);
	out->application_name = rows_str(r, first + 1, a);
	out->application_status = rows_str(r, first + 2, a);
	out->application_scopes = words_split(a, rows_str(r, first + 3, a));
	out->entitlements = words_split(a, rows_str(r, first + 4, a));
	out->workspace_entitlements = words_split(a, rows_str(r, first + 5, a));
	out->production_closed = rows_bool(r, first + 6);
	out->limits = limits_from(r, first + 7);
}

int
credential_find(struct db *db, struct str public_id, struct arena *a,
    struct credential *out, struct err *e)
{
	struct credential nearest;
	struct rows r;
	int found;

	if (db_query(db, &r, e,
		"SELECT c.public_id, c.sha256, c.status, c.scopes,"
		" " CREDENTIAL_OWNER_COLUMNS
		" FROM credential c" CREDENTIAL_OWNER_JOINS CREDENTIAL_NEAREST(
		    "c", "credential", "public_id"),
		"s", public_id))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		nearest = (struct credential){
			.public_id = rows_str(&r, 0, a),
			.sha256 = rows_digest(&r, 1),
			.status = rows_str(&r, 2, a),
			.scopes = words_split(a, rows_str(&r, 3, a)),
		};
		credential_owner_from(&r, 4, a, &nearest);
		found = str_eq(nearest.public_id, public_id);
		if (found)
			*out = nearest;
	}
	if (rows_end(&r, e))
		return -1;
	return found;
}
