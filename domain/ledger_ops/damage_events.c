#include "domain/damage.h"
#include "domain/ledger_ops/group.h"

struct damage_found {
	struct list objects;
	int64_t total;
};

struct damage_mended {
	struct list objects;
};

/* clang-format off */
SHAPE(damaged_object, "Something of the repository that is not as it was written",
	FIELD(damaged_object, kind, .required = true, .max = 32, .doc = "commit, tree, events, checkpoint, allowed_signers, payloads, payload, entry, pack, branch; batch when its objects are whole and say something wrong"),
	FIELD(damaged_object, name, .required = true, .max = 64, .doc = "Object id, name of the pack, or reference"),
	FIELD(damaged_object, what, .required = true, .max = 300, .doc = "What is wrong with it"),
	FIELD(damaged_object, first_seq, .min = 0, .doc = "First event of the batch that it belongs to"),
	FIELD(damaged_object, last_seq, .min = 0, .doc = "Last event of that batch"));

SHAPE(damage_found, "Damage that was found in the repository",
	FIELD(damage_found, objects, .required = true, .of = &damaged_object_shape, .min = 1, .max = DAMAGE_PER_EVENT, .doc = "What is damaged and was not known to be"),
	FIELD(damage_found, total, .required = true, .min = 1, .doc = "Damages that were seen, known or not"));

SHAPE(damage_mended, "Damage that is mended",
	FIELD(damage_mended, objects, .required = true, .of = &damaged_object_shape, .min = 1, .max = DAMAGE_PER_EVENT, .doc = "What is whole again"));

SHAPE(scrubbed, "A scrub that came to its end",
	FIELD(scrubbed, events, .required = true, .min = 0, .doc = "Events gone over"),
	FIELD(scrubbed, objects, .required = true, .min = 0, .doc = "Objects looked at"),
	FIELD(scrubbed, bytes, .required = true, .min = 0, .doc = "Bytes read"),
	FIELD(scrubbed, damaged, .required = true, .min = 0, .doc = "Damages found"),
	FIELD(scrubbed, seconds, .required = true, .min = 0, .doc = "Time that it was at work"),
	FIELD(scrubbed, started_at, .required = true, .doc = "When it began"),
	FIELD(scrubbed, finished_at, .required = true, .doc = "When it ended"));
/* clang-format on */

EVENT_TYPE(ledger_damage_found, "ledger.damage_found", damage_found,
    "Something of the repository is not as it was written");
EVENT_TYPE(ledger_damage_mended, "ledger.damage_mended", damage_mended,
    "What was damaged is whole again");
EVENT_TYPE(ledger_scrubbed, "ledger.scrubbed", scrubbed,
    "Everything that the branch reaches was read from the disk");

static int
project_ledger_damage_found(struct db *db, const struct event *ev,
    const struct damage_found *d, struct err *e)
{
	const struct damaged_object *o = d->objects.items;

	for (size_t i = 0; i < d->objects.n; i++)
		if (db_run(db, e,
			"INSERT INTO damage (kind, name, what, first_seq,"
			" last_seq, found_at) VALUES (?, ?, ?, ?, ?, ?)",
			"sssoot", o[i].kind, o[i].name, o[i].what,
			o[i].first_seq, o[i].last_seq, ev->at))
			return -1;
	return 0;
}

static int
project_ledger_damage_mended(struct db *db, const struct event *ev,
    const struct damage_mended *d, struct err *e)
{
	const struct damaged_object *o = d->objects.items;

	for (size_t i = 0; i < d->objects.n; i++)
		if (db_run(db, e,
			"UPDATE damage SET mended_at = ? WHERE kind = ?"
			" AND name = ? AND mended_at IS NULL",
			"tss", ev->at, o[i].kind, o[i].name))
			return -1;
	return 0;
}

static int
project_ledger_scrubbed(struct db *db, const struct event *ev,
    const struct scrubbed *d, struct err *e)
{
	(void)ev;
	return db_run(db, e,
	    "INSERT INTO scrub (events, objects, bytes, damaged, seconds,"
	    " started_at, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
	    "iiiiitt", d->events, d->objects, d->bytes, d->damaged, d->seconds,
	    d->started_at, d->finished_at);
}

/* Whether the tables know it as damaged: 1, 0, -1. */
static int
is_open(struct db *db, const struct damaged_object *o, struct err *e)
{
	int64_t n;

	if (db_get_int(db, &n, 0, e,
		"SELECT count(*) FROM damage WHERE kind = ? AND name = ?"
		" AND mended_at IS NULL",
		"ss", o->kind, o->name))
		return -1;
	return n > 0;
}

static bool
is_among(
    const struct damaged_object *o, const struct damaged_object *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(o->name, list[i].name) &&
		    str_eq(o->kind, list[i].kind))
			return true;
	return false;
}

/* Those of the list that the tables say that of, each once. */
static int
pick(struct tx *tx, const struct damage_list *list, bool open,
    struct damaged_object *out, size_t *n, struct err *e)
{
	*n = 0;
	for (size_t i = 0; i < list->n; i++) {
		int rc = is_open(tx_db(tx), &list->p[i], e);

		if (rc < 0)
			return -1;
		if (rc == open && !is_among(&list->p[i], out, *n))
			out[(*n)++] = list->p[i];
	}
	return 0;
}

static int
emit(struct tx *tx, const struct event_type *type, const void *data,
    struct err *e)
{
	return tx_emit(tx, type, "ledger", tx_uid(tx), data, NULL, 0, e);
}

static int
decide_found(struct tx *tx, const struct damage_list *list, struct err *e)
{
	struct damaged_object *o =
	    arena_array(tx_arena(tx), list->n + 1, sizeof *o);
	size_t n;

	if (pick(tx, list, false, o, &n, e))
		return -1;
	for (size_t at = 0; at < n; at += DAMAGE_PER_EVENT) {
		size_t left = n - at;
		struct damage_found data = { .total = (int64_t)list->all };

		data.objects = (struct list){ o + at,
			left < DAMAGE_PER_EVENT ? left : DAMAGE_PER_EVENT };
		if (emit(tx, &event_ledger_damage_found, &data, e))
			return -1;
	}
	return 0;
}

static int
decide_mended(struct tx *tx, const struct damage_list *list, struct err *e)
{
	struct damaged_object *o =
	    arena_array(tx_arena(tx), list->n + 1, sizeof *o);
	size_t n;

	if (pick(tx, list, true, o, &n, e))
		return -1;
	for (size_t at = 0; at < n; at += DAMAGE_PER_EVENT) {
		size_t left = n - at;
		struct damage_mended data = { { o + at,
		    left < DAMAGE_PER_EVENT ? left : DAMAGE_PER_EVENT } };

		if (emit(tx, &event_ledger_damage_mended, &data, e))
			return -1;
	}
	return 0;
}

int
damage_decide(struct tx *tx, const struct damage_news *news, struct err *e)
{
	if (decide_found(tx, &news->found, e) ||
	    decide_mended(tx, &news->mended, e))
		return -1;
	return news->scrubbed
		   ? emit(tx, &event_ledger_scrubbed, news->scrubbed, e)
		   : 0;
}
