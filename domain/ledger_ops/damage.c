#include "domain/damage.h"

#include <string.h>

#include "domain/ledger_ops/group.h"

const struct err_kind err_damaged = { "ledger-damaged",
	"The repository is damaged", 409, false,
	"Mend it: probityctl ledger heal --from a mirror or backup." };

static struct damaged_object *
next(struct damage_list *list, struct arena *a)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct damaged_object *p = arena_array(a, room, sizeof *p);

		if (list->n > 0)
			memcpy(p, list->p, list->n * sizeof *p);
		list->p = p;
		list->room = room;
	}
	return &list->p[list->n++];
}

void
damage_list_add(
    struct damage_list *list, struct arena *a, const struct damage *d)
{
	list->all++;
	if (list->n == DAMAGE_TOLD_MAX)
		return;
	*next(list, a) = (struct damaged_object){
		.kind = str_from(d->kind),
		.name = arena_str(a, str_from(d->name)),
		.what = arena_str(
		    a, str_from(d->what[0] ? d->what : "it is damaged")),
		.first_seq = { d->has_seq, (int64_t)d->first_seq },
		.last_seq = { d->has_seq, (int64_t)d->last_seq },
	};
}

int
damage_read_open(
    struct db *db, struct arena *a, struct damage_list *list, struct err *e)
{
	struct rows r;
	int rc;

	if (db_query(db, &r, e,
		"SELECT kind, name, what, first_seq, last_seq FROM damage"
		" WHERE mended_at IS NULL ORDER BY id",
		""))
		return -1;
	while ((rc = rows_next(&r, e)) == 1 && list->n < DAMAGE_TOLD_MAX) {
		*next(list, a) = (struct damaged_object){
			.kind = rows_str(&r, 0, a),
			.name = rows_str(&r, 1, a),
			.what = rows_str(&r, 2, a),
			.first_seq = rows_opt_int(&r, 3),
			.last_seq = rows_opt_int(&r, 4),
		};
		list->all++;
	}
	return rows_end(&r, e) || rc < 0 ? -1 : 0;
}

static int
read_open(
    struct ledger *l, struct arena *a, struct damage_list *list, struct err *e)
{
	struct reading reading;
	int rc;

	if (ledger_read_begin(l, &reading, e))
		return -1;
	rc = damage_read_open(reading.db, a, list, e);
	ledger_read_end(&reading);
	return rc;
}

int
damage_find_mended(struct ledger *l, const struct ledger_options *o,
    struct arena *a, struct damage_list *mended, struct err *e)
{
	struct damage_list open = { 0 };
	struct damage_name *names;
	bool *remains;

	if (read_open(l, a, &open, e))
		return -1;
	if (open.n == 0)
		return 0;
	names = arena_array(a, open.n, sizeof *names);
	remains = arena_array(a, open.n, sizeof *remains);
	for (size_t i = 0; i < open.n; i++)
		names[i] =
		    (struct damage_name){ open.p[i].kind, open.p[i].name };
	if (ledger_damage_remains(o, names, open.n, remains, e))
		return -1;
	for (size_t i = 0; i < open.n; i++)
		if (!remains[i]) {
			*next(mended, a) = open.p[i];
			mended->all++;
		}
	return 0;
}

int
damage_read_scrub(struct db *db, struct scrubbed *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(db, &r, e,
		"SELECT events, objects, bytes, damaged, seconds, started_at,"
		" finished_at FROM scrub ORDER BY id DESC LIMIT 1",
		""))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct scrubbed){
			.events = rows_int(&r, 0),
			.objects = rows_int(&r, 1),
			.bytes = rows_int(&r, 2),
			.damaged = rows_int(&r, 3),
			.seconds = rows_int(&r, 4),
			.started_at = rows_instant(&r, 5),
			.finished_at = rows_instant(&r, 6),
		};
	if (rows_end(&r, e))
		return -1;
	return found;
}
