#include "domain/lineage/references.h"

#include "domain/parties.h"

/* How a member of the data says which record it means. */
enum form {
	UID_TEXT_OF,  /* "import_uid": "…" */
	UID_LIST_OF,  /* "statement_uids": ["…"] */
	OBJECT_WITH,  /* "source": {"uid": "…"} */
	LIST_OF_THEM, /* "records": [{"uid": "…"}] */
	NUMBER_OF     /* "connector_id": 1 */
};

struct member {
	const char *name;
	enum form form;
	const char *kind;
	bool made; /* by this event; else it was there before */
};

/* A later event type whose members mean a record has a line here. A manifest
 * has to be made again years later, byte for byte, so a line never changes. */
static const struct member members[] = {
	{ "application", UID_TEXT_OF, "application", false },
	{ "arrangement_uid", UID_TEXT_OF, "arrangement", false },
	{ "connector_id", NUMBER_OF, "connector", false },
	{ "counterparty_id", NUMBER_OF, "counterparty", false },
	{ "import_uid", UID_TEXT_OF, "source_import", false },
	{ "records", LIST_OF_THEM, "source_record", true },
	{ "source", OBJECT_WITH, "source_record", false },
	{ "statement_uid", UID_TEXT_OF, "bank_statement", false },
	{ "statement_uids", UID_LIST_OF, "bank_statement", true },
};

struct finder {
	struct context *c;
	const struct event *event;
	bool is_void;
	struct references *out;
};

static void
add(struct finder *f, const struct member *m, struct uid uid)
{
	struct reference **end = m->made ? &f->out->made : &f->out->used;

	if (uid_is_none(uid) || uid_eq(uid, f->event->subject))
		return;
	for (; *end; end = &(*end)->next)
		if (uid_eq((*end)->uid, uid))
			return;
	*end = ARENA_NEW(f->c->arena, struct reference);
	**end = (struct reference){ str_from(m->kind), uid, NULL };
}

static void
add_text(struct finder *f, const struct member *m, const struct json *v)
{
	struct uid uid;

	if (v && v->type == JSON_STRING && uid_parse(v->text, &uid))
		add(f, m, uid);
}

static int
add_number(struct finder *f, const struct member *m, int64_t id, struct err *e)
{
	struct counterparty counterparty = { 0 };
	struct connector connector = { 0 };

	if (str_is(str_from(m->kind), "connector")) {
		if (connector_find(f->c, id, &connector, e) < 0)
			return -1;
		add(f, m, connector.uid);
		return 0;
	}
	if (counterparty_find(f->c, id, &counterparty, e) < 0)
		return -1;
	add(f, m, counterparty.uid);
	return 0;
}

static int
add_member(struct finder *f, const struct member *m, const struct json *parent,
    const struct json *v, struct err *e)
{
	int64_t id;

	switch (m->form) {
	case UID_TEXT_OF:
		add_text(f, m, v);
		break;
	case OBJECT_WITH:
		add_text(f, m, json_get(v, "uid"));
		break;
	case UID_LIST_OF:
		for (const struct json *at = v->first; at; at = at->next)
			add_text(f, m, at);
		break;
	case LIST_OF_THEM:
		for (const struct json *at = v->first; at; at = at->next)
			add_text(f, m, json_get(at, "uid"));
		break;
	case NUMBER_OF:
		if (!f->is_void && json_get_int(parent, m->name, &id))
			return add_number(f, m, id, e);
		break;
	}
	return 0;
}

/* The data's depth is bounded by the event's form. */
static int
visit(struct finder *f, const struct json *v, struct err *e)
{
	for (const struct json *at = v->first; at; at = at->next) {
		for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
			if (str_is(at->name, members[i].name) &&
			    add_member(f, &members[i], v, at, e))
				return -1;
		if (visit(f, at, e))
			return -1;
	}
	return 0;
}

int
references_find(struct context *c, const struct event *event, bool is_void,
    struct references *out, struct err *e)
{
	struct finder f = { c, event, is_void, out };

	*out = (struct references){ 0 };
	return visit(&f, event->data, e);
}
