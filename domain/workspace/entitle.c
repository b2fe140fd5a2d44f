/*
 * workspace entitle and disentitle: which groups of operations the workspace
 * has. Applications keep their own lists; a request needs both, so what is
 * taken from the workspace is taken from all of them, and comes back as it was.
 */
#include "domain/words.h"
#include "domain/workspace.h"
#include "domain/workspace/events.h"
#include "domain/workspace/group.h"

struct entitle_request {
	struct str_list entitlements;
	struct str reason;
};

struct entitled {
	int64_t id;
	struct uid uid;
	struct str_list changed, entitlements;
	struct str reason;
	struct instant changed_at;
};

/* clang-format off */
SHAPE(entitle_request, "Entitlements to give to the workspace, or to take from it",
	FIELD(entitle_request, entitlements, .required = true, .min = 1, .max = 100, .doc = "Which"),
	FIELD(entitle_request, reason, .max = 280, .format = &format_text, .doc = "Why, for the record"));
SHAPE(entitled, "The entitlements of a workspace after a change",
	FIELD(entitled, id, .doc = "Number"),
	FIELD(entitled, uid, .doc = "Identifier of the workspace"),
	FIELD(entitled, changed, .max = 100, .doc = "Those that this change gave or took"),
	FIELD(entitled, entitlements, .max = 100, .doc = "All that it has since"),
	FIELD(entitled, reason, .doc = "Why"),
	FIELD(entitled, changed_at, .doc = "When"));
/* clang-format on */

PREPARE(workspace_entitle, entitle_request)
WRITE_OPERATION(workspace_entitle, entitle_request, entitled,
    .id = "workspace.entitle", .command = "workspace entitle", .status = 200,
    .product = "Core Platform",
    .summary = "Give the workspace further groups of operations",
    .prepare = workspace_entitle_prepare_any, .reply_is_pure = true,
    .emits = EMITS(&event_workspace_entitled));
WRITE_OPERATION(workspace_disentitle, entitle_request, entitled,
    .id = "workspace.disentitle", .command = "workspace disentitle",
    .status = 200, .product = "Core Platform",
    .summary = "Take groups of operations from the workspace",
    .prepare = workspace_entitle_prepare_any, .reply_is_pure = true,
    .emits = EMITS(&event_workspace_disentitled));

static int
workspace_entitle_prepare(
    struct context *c, const struct entitle_request *in, struct err *e)
{
	return words_check(c->arena, "entitlements", in->entitlements,
	    workspace_knows_entitlement, NULL, "a known product", e);
}

/* Sorted, as they always stand: those of `have`, with or without `change`. */
static struct str_list
changed_list(struct arena *a, struct str_list have, struct str_list change,
    bool give, struct str_list *news)
{
	struct str_list all = workspace_all_entitlements(a);
	struct str *after = arena_array(a, all.n, sizeof *after);
	struct str *moved = arena_array(a, all.n, sizeof *moved);
	size_t n_after = 0, n_moved = 0;

	for (size_t i = 0; i < all.n; i++) {
		bool had = words_have(have, all.items[i]);
		bool named = words_have(change, all.items[i]);

		if (named && had != give)
			moved[n_moved++] = all.items[i];
		if (give ? had || named : had && !named)
			after[n_after++] = all.items[i];
	}
	*news = (struct str_list){ moved, n_moved };
	return (struct str_list){ after, n_after };
}

static int
change(struct context *c, const struct entitle_request *in, bool give,
    struct err *e)
{
	struct workspace_entitlements_set data = { .reason = in->reason };
	struct workspace_record workspace;
	int found = workspace_find(c, &workspace, e);

	if (found < 0)
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found,
		    "the workspace is not recorded; create it again");
	data.entitlements = changed_list(c->arena, workspace.entitlements,
	    in->entitlements, give, &data.changed);
	if (data.changed.n == 0)
		return err_set(e, &err_conflict,
		    give ? "the workspace has all of them"
			 : "the workspace has none of them");
	return context_emit(c,
	    give ? &event_workspace_entitled : &event_workspace_disentitled,
	    "workspace", workspace.uid, &data, e);
}

static int
reply(struct context *c, const struct event *ev, const struct event_type *type,
    struct entitled *out, struct err *e)
{
	struct workspace_entitlements_set data;

	if (context_event_data(c, ev, type, &data, e))
		return -1;
	*out = (struct entitled){
		.id = 1, /* a ledger has one workspace */
		.uid = ev->subject,
		.changed = data.changed,
		.entitlements = data.entitlements,
		.reason = data.reason,
		.changed_at = ev->at,
	};
	return 0;
}

static int
workspace_entitle_decide(
    struct context *c, const struct entitle_request *in, struct err *e)
{
	return change(c, in, true, e);
}

static int
workspace_entitle_reply(struct context *c, const struct event *ev,
    struct entitled *out, struct err *e)
{
	return reply(c, ev, &event_workspace_entitled, out, e);
}

static int
workspace_disentitle_decide(
    struct context *c, const struct entitle_request *in, struct err *e)
{
	return change(c, in, false, e);
}

static int
workspace_disentitle_reply(struct context *c, const struct event *ev,
    struct entitled *out, struct err *e)
{
	return reply(c, ev, &event_workspace_disentitled, out, e);
}
