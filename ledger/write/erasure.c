#include "ledger/write/content.h"
#include "ledger/write/writer.h"

/* clang-format off */
SHAPE(carried_value, "What a destroyed key had encrypted",
	FIELD(carried_value, key, .required = true, .doc = "The content key"),
	FIELD(carried_value, seq, .required = true, .doc = "An event that holds values under it"));
SHAPE(subject_erased, "The personal values of a record were erased",
	FIELD(subject_erased, reason, .required = true, .doc = "Why"),
	FIELD(subject_erased, requested_by, .omit_null = true, .doc = "Who asked for it"),
	FIELD(subject_erased, keys, .required = true, .doc = "Content keys destroyed, by all events of this erasure"),
	FIELD(subject_erased, carried, .required = true, .of = &carried_value_shape, .min = 1, .max = CARRIED_PER_EVENT, .doc = "The keys, and the events that held values under them"),
	FIELD(subject_erased, replays, .omit_null = true, .doc = "The event of the erasure list that this one repeats, in a ledger restored from an older copy"));
/* clang-format on */

EVENT_TYPE(subject_erased, "subject.erased", subject_erased,
    "The content keys of a record were destroyed; its encrypted values are "
    "gone, their hashes and commitments stay");

static int
project_key(
    struct db *db, const struct event *ev, struct uid key, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO ledger_erased_key (key, seq, at) VALUES (?, ?, ?)"
	    " ON CONFLICT DO NOTHING",
	    "uit", key, (int64_t)ev->seq, ev->at);
}

static int
project_subject_erased(struct db *db, const struct event *ev,
    const struct subject_erased *d, struct err *e)
{
	const struct carried_value *carried = d->carried.items;

	for (size_t i = 0; i < d->carried.n; i++)
		if (project_key(db, ev, carried[i].key, e))
			return -1;
	return db_run(db, e,
	    "INSERT INTO ledger_erasure (seq, uid, subject, replays)"
	    " VALUES (?, ?, ?, ?)",
	    "iuuu", (int64_t)ev->seq, ev->uid, ev->subject, d->replays);
}

int
erasure_find(struct db *db, struct uid key, struct erasure *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(db, &r, e,
		"SELECT seq, at FROM ledger_erased_key WHERE key = ?", "u",
		key))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct erasure){ (uint64_t)rows_int(&r, 0),
			rows_instant(&r, 1) };
	return rows_end(&r, e) ? -1 : found;
}

/* What a ledger still holds under the keys of a subject. */
struct held {
	struct carried_value *values; /* by key */
	size_t n;
	const char *kind; /* of the subject */
};

#define HELD                                                      \
	" FROM ledger_content_key WHERE key IN"                   \
	" (SELECT key FROM ledger_content_key WHERE subject = ?)" \
	" AND key NOT IN (SELECT key FROM ledger_erased_key)"

static int
count_held(struct tx *tx, struct uid subject, struct held *out, struct err *e)
{
	struct arena *a = tx_arena(tx);
	struct rows r;
	int found;

	if (db_query(tx_db(tx), &r, e,
		"SELECT count(*),"
		" (SELECT kind FROM ledger_content_key WHERE subject = ?)" HELD,
		"uu", subject, subject))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct held){ .n = (size_t)rows_int(&r, 0),
			.kind = arena_cstr(a, rows_str(&r, 1, a)) };
	return rows_end(&r, e) || found < 0 ? -1 : 0;
}

static int
read_held(struct tx *tx, struct uid subject, struct held *out, struct err *e)
{
	struct rows r;
	size_t n = 0;

	if (count_held(tx, subject, out, e))
		return -1;
	out->values =
	    arena_array(tx_arena(tx), out->n + 1, sizeof *out->values);
	if (db_query(tx_db(tx), &r, e,
		"SELECT key, seq" HELD " ORDER BY key, seq", "u", subject))
		return -1;
	while (n < out->n && rows_next(&r, e) == 1)
		out->values[n++] =
		    (struct carried_value){ rows_uid(&r, 0), rows_int(&r, 1) };
	return rows_end(&r, e);
}

/* Why there is nothing to erase. */
static int
refuse(struct tx *tx, struct uid subject, struct err *e)
{
	struct str bytes = { (const char *)subject.b, sizeof subject.b };
	int64_t erased, known;

	if (db_get_int(tx_db(tx), &erased, -1, e,
		"SELECT min(seq) FROM ledger_erasure WHERE subject = ?"
		" HAVING count(*) > 0",
		"u", subject) ||
	    db_get_int(tx_db(tx), &known, -1, e,
		"SELECT seq FROM ledger_subject WHERE subject = ? LIMIT 1", "b",
		bytes))
		return -1;
	if (erased >= 0)
		return err_set(e, &err_erased,
		    "event %lld erased this record already", (long long)erased);
	if (known < 0)
		return err_set(e, &err_not_found,
		    "there is no such record in this workspace");
	return err_set(e, &err_conflict,
	    "the record has no encrypted values, and what events hold in "
	    "clear cannot be erased");
}

static int64_t
count_keys(const struct held *held)
{
	int64_t n = 0;

	for (size_t i = 0; i < held->n; i++)
		n += i == 0 ||
		     !uid_eq(held->values[i - 1].key, held->values[i].key);
	return n;
}

static int
emit(struct tx *tx, struct uid subject, const struct held *held,
    struct subject_erased data, struct err *e)
{
	data.keys = count_keys(held);
	for (size_t from = 0; from < held->n; from += CARRIED_PER_EVENT) {
		size_t n = held->n - from;

		if (n > CARRIED_PER_EVENT)
			n = CARRIED_PER_EVENT;
		data.carried = (struct list){ held->values + from, n };
		if (tx_emit(tx, &event_subject_erased, held->kind, subject,
			&data, NULL, 0, e))
			return -1;
	}
	return 0;
}

int
subject_erase(struct tx *tx, struct uid subject, struct str reason,
    struct str requested_by, struct err *e)
{
	struct subject_erased data = { .reason = reason,
		.requested_by = requested_by };
	struct held held;

	if (read_held(tx, subject, &held, e))
		return -1;
	if (held.n == 0)
		return refuse(tx, subject, e);
	return emit(tx, subject, &held, data, e);
}

/* Of what is held, the keys that an earlier erasure named. */
static void
keep_named(struct held *held, const struct list *named)
{
	const struct carried_value *carried = named->items;
	size_t kept = 0;

	for (size_t i = 0; i < held->n; i++)
		for (size_t k = 0; k < named->n; k++)
			if (uid_eq(held->values[i].key, carried[k].key)) {
				held->values[kept++] = held->values[i];
				break;
			}
	held->n = kept;
}

int
subject_erase_again(struct tx *tx, const struct event *first,
    const struct subject_erased *d, struct err *e)
{
	struct subject_erased data = { .reason = d->reason,
		.requested_by = d->requested_by,
		.replays = first->uid };
	struct held held;
	int64_t done;

	if (db_get_int(tx_db(tx), &done, -1, e,
		"SELECT seq FROM ledger_erasure WHERE uid = ? OR replays = ?",
		"uu", first->uid, first->uid) ||
	    read_held(tx, first->subject, &held, e))
		return -1;
	/* Another process was faster. */
	if (done >= 0)
		return 0;
	keep_named(&held, &d->carried);
	return emit(tx, first->subject, &held, data, e);
}
