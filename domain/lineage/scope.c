#include "domain/lineage/scope.h"

#include <stdlib.h>
#include <string.h>

#include "domain/actions.h"
#include "domain/parties.h"
#include "domain/workspace.h"

#define SUBJECTS_MAX 8

/* The records whose events belong to the scope. */
struct subjects {
	struct uid list[SUBJECTS_MAX];
	size_t n;
};

static void
add_subject(struct subjects *s, struct uid uid)
{
	if (!uid_is_none(uid) && s->n < SUBJECTS_MAX)
		s->list[s->n++] = uid;
}

struct places {
	uint64_t *list;
	size_t n, room;
};

static void
add_place(struct arena *a, struct places *p, uint64_t seq)
{
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		uint64_t *list = arena_array(a, room, sizeof *list);

		if (p->n > 0)
			memcpy(list, p->list, p->n * sizeof *list);
		p->list = list;
		p->room = room;
	}
	p->list[p->n++] = seq;
}

static int
add_places(struct context *c, struct uid subject, uint64_t size,
    struct places *p, struct err *e)
{
	struct rows r;
	int rc;

	if (db_query(c->db, &r, e,
		"SELECT seq FROM ledger_subject WHERE subject = ? AND seq < ?"
		" AND NOT void ORDER BY seq",
		"bi", (struct str){ (const char *)subject.b, sizeof subject.b },
		(int64_t)size))
		return -1;
	while ((rc = rows_next(&r, e)) == 1)
		add_place(c->arena, p, (uint64_t)rows_int(&r, 0));
	return rows_end(&r, e) || rc < 0 ? -1 : 0;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
sort_once_each(struct places *p)
{
	size_t n = 0;

	if (p->n > 0)
		qsort(p->list, p->n, sizeof *p->list, compare);
	for (size_t i = 0; i < p->n; i++)
		if (i == 0 || p->list[i] != p->list[n - 1])
			p->list[n++] = p->list[i];
	p->n = n;
}

static int
collect(struct context *c, const struct subjects *s, struct scope *out,
    struct err *e)
{
	struct places p = { 0 };

	for (size_t i = 0; i < s->n; i++)
		if (add_places(c, s->list[i], out->size, &p, e))
			return -1;
	sort_once_each(&p);
	out->seqs = p.list;
	out->n = p.n;
	return 0;
}

/* The source record, its import, and the statement it came in. */
static int
add_source(struct context *c, struct uid uid, struct subjects *s,
    struct scope *out, struct err *e)
{
	struct source_material import;
	struct statement_entry entry;
	struct source_record record;
	int found = source_record_find(c, uid, &record, e);
	int is_entry;

	if (found != 1)
		return found;
	is_entry = statement_entry_find(c, uid, &entry, e);
	if (is_entry < 0 ||
	    source_import_find(c, record.import, &import, e) < 0)
		return -1;
	add_subject(s, uid);
	add_subject(s, record.import);
	if (is_entry == 1)
		add_subject(s, entry.statement);
	out->materials[0] = import;
	out->materials[1] = (struct source_material){
		.id = record.id, .uid = uid, .sha256 = record.sha256
	};
	out->n_materials = 2;
	out->digest = record.sha256;
	return 1;
}

static int
add_parties(struct context *c, const struct action_origins *from,
    struct subjects *s, struct err *e)
{
	struct counterparty counterparty = { 0 };
	struct connector connector = { 0 };

	if (counterparty_find(c, from->counterparty_id, &counterparty, e) < 0 ||
	    connector_find(c, from->connector_id, &connector, e) < 0)
		return -1;
	add_subject(s, from->arrangement);
	add_subject(s, counterparty.uid);
	add_subject(s, connector.uid);
	return 0;
}

static int
find_action(struct context *c, struct scope *out, struct err *e)
{
	struct action_origins from;
	struct subjects s = { 0 };
	int found = action_find_origins(c, out->uid, &from, e);

	if (found != 1)
		return found;
	add_subject(&s, out->uid);
	if (add_source(c, from.source, &s, out, e) < 0 ||
	    add_parties(c, &from, &s, e))
		return -1;
	out->digest = from.envelope_hash;
	return collect(c, &s, out, e) ? -1 : 1;
}

static int
find_source_record(struct context *c, struct scope *out, struct err *e)
{
	struct subjects s = { 0 };
	int found = add_source(c, out->uid, &s, out, e);

	if (found != 1)
		return found;
	return collect(c, &s, out, e) ? -1 : 1;
}

/* By its uid, or by the name that credentials and paths bear. */
static int
find_workspace(
    struct context *c, struct str id, struct scope *out, struct err *e)
{
	struct workspace_record w;
	int found = workspace_find(c, &w, e);

	if (found != 1)
		return found;
	if (!uid_eq(w.uid, out->uid) && !str_eq(w.name, id))
		return 0;
	out->uid = w.uid;
	out->complete = true;
	out->n = out->size;
	return 1;
}

int
scope_find(struct context *c, struct str type, struct str id, uint64_t size,
    struct scope *out, struct err *e)
{
	bool is_uid;

	*out = (struct scope){ .type = type, .size = size };
	is_uid = uid_parse(id, &out->uid);
	if (str_is(type, "workspace"))
		return find_workspace(c, id, out, e);
	if (!is_uid)
		return 0;
	return str_is(type, "action") ? find_action(c, out, e)
				      : find_source_record(c, out, e);
}
