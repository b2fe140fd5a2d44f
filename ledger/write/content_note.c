/*
 * Notes which event holds encrypted values under which key, from the event
 * type's shape.
 */
#include "ledger/write/content.h"
#include "ledger/write/writer.h"

struct noting {
	struct db *db;
	const struct event *event;
};

static int note_members(const struct noting *, const struct shape *,
    const void *from, struct err *);

/* A value under a key that was destroyed could never be read. */
static int
note_key(
    const struct noting *n, const struct sealed_text *sealed, struct err *e)
{
	struct erasure erased;
	int found = erasure_find(n->db, sealed->key, &erased, e);

	if (found < 0)
		return -1;
	if (found == 1)
		return err_set(e, &err_erased,
		    "the content key was destroyed by event %llu",
		    (unsigned long long)erased.seq);
	return db_run(n->db, e,
	    "INSERT INTO ledger_content_key (key, seq, subject, kind)"
	    " VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
	    "uius", sealed->key, (int64_t)n->event->seq, n->event->subject,
	    n->event->subject_kind);
}

static int
note_list(const struct noting *n, const struct shape *of,
    const struct list *list, struct err *e)
{
	const char *items = list->items;

	for (size_t i = 0; i < list->n; i++)
		if (note_members(n, of, items + i * of->size, e))
			return -1;
	return 0;
}

static int
note_object(const struct noting *n, const struct shape *of, const void *nested,
    struct err *e)
{
	if (nested == NULL)
		return 0;
	if (of == &sealed_text_shape)
		return note_key(n, nested, e);
	return note_members(n, of, nested, e);
}

static int
note_members(const struct noting *n, const struct shape *shape,
    const void *from, struct err *e)
{
	for (size_t i = 0; i < shape->n; i++) {
		const struct field *f = &shape->fields[i];
		const void *slot = (const char *)from + f->offset;

		if (f->type == FIELD_LIST && note_list(n, f->of, slot, e))
			return -1;
		if (f->type == FIELD_OBJECT &&
		    note_object(n, f->of, *(const void *const *)slot, e))
			return -1;
	}
	return 0;
}

int
content_note(struct ledger *l, const struct event *ev, const void *data,
    const struct shape *shape, struct err *e)
{
	const struct noting n = { l->db, ev };

	return note_members(&n, shape, data, e);
}
