#include "domain/witnesses/group.h"
#include "ledger/base/log.h"

static struct str
key_id_text(struct arena *a, const struct witness *w)
{
	return arena_strf(a, "%08x", w->key.key_id);
}

int
witness_last_size(
    struct db *db, const struct witness *w, uint64_t *out, struct err *e)
{
	struct arena *a;
	int64_t size;
	int failed;

	if (!w) {
		failed = db_get_int(
		    db, &size, 0, e, "SELECT max(size) FROM cosignature", "");
	} else {
		a = arena_new();
		failed = db_get_int(db, &size, 0, e,
		    "SELECT max(size) FROM cosignature"
		    " WHERE witness = ? AND key_id = ?",
		    "ss", w->key.name, key_id_text(a, w));
		arena_free(a);
	}
	*out = failed ? 0 : (uint64_t)size;
	return failed;
}

/* The events about one job since then. */
static int
count_of_job(struct context *c, struct uid job, uint64_t since, int64_t *n,
    struct err *e)
{
	return db_get_int(c->db, n, 0, e,
	    "SELECT count(*) FROM ledger_subject"
	    " WHERE subject = ? AND seq >= ?",
	    "bi", (struct str){ (const char *)job.b, sizeof job.b },
	    (int64_t)since);
}

/* One job of a kind is open at a time: before the newest one without an event
 * since then, none has any. */
static int
count_of_kind(struct context *c, struct str kind, uint64_t since,
    uint64_t *total, struct err *e)
{
	struct rows r;
	int64_t n = 1;
	int rc = 0;

	if (db_query(c->db, &r, e,
		"SELECT uid FROM job WHERE kind = ? ORDER BY id DESC", "s",
		kind))
		return -1;
	while (n > 0 && (rc = rows_next(&r, e)) == 1) {
		if (count_of_job(c, rows_uid(&r, 0), since, &n, e)) {
			rc = -1;
			break;
		}
		*total += (uint64_t)n;
	}
	return rows_end(&r, e) || rc < 0 ? -1 : 0;
}

/* These only carry checkpoints and copies of the ledger to other places. */
static const char *const carriers[] = { "ledger.witness", "ledger.timestamp",
	"ledger.mirror", "ledger.export_checkpoint" };

int
witness_has_news(struct context *c, uint64_t since, bool *out, struct err *e)
{
	uint64_t own = 0;
	int64_t size;

	if (db_get_int(
		c->db, &size, 0, e, "SELECT size FROM ledger_position", ""))
		return -1;
	for (size_t i = 0; i < sizeof carriers / sizeof carriers[0]; i++)
		if (count_of_kind(c, str_from(carriers[i]), since, &own, e))
			return -1;
	*out = (uint64_t)size > since + own;
	return 0;
}

/* The configured witnesses as a JSON array of name+key id. */
static struct str
names_of(struct arena *a, const struct witness_list *list)
{
	struct json *v = json_array(a);
	struct str out;
	struct buf b;

	for (size_t i = 0; i < list->n; i++)
		json_push(
		    v, json_string(a, arena_strf(a, "%.*s+%08x",
					  STR_ARGS(list->items[i].key.name),
					  list->items[i].key.key_id)));
	buf_init(&b, NOTE_MAX);
	json_write(v, &b);
	out = arena_str(a, buf_str(&b));
	buf_fini(&b);
	return out;
}

static int
read_rows(struct context *c, const struct witness_list *list, uint64_t size,
    struct cosignature *items, size_t *n, struct err *e)
{
	struct rows r;
	int rc;

	if (db_query(c->db, &r, e,
		"SELECT size, witness, key_id, line, time FROM cosignature"
		" WHERE size = ? AND witness || '+' || key_id IN"
		" (SELECT value FROM json_each(?)) ORDER BY witness, key_id",
		"is", (int64_t)size, names_of(c->arena, list)))
		return -1;
	while ((rc = rows_next(&r, e)) == 1 && *n < list->n)
		items[(*n)++] = (struct cosignature){
			.size = rows_int(&r, 0),
			.witness = rows_str(&r, 1, c->arena),
			.key_id = rows_str(&r, 2, c->arena),
			.line = rows_str(&r, 3, c->arena),
			.time = rows_instant(&r, 4),
		};
	return rows_end(&r, e) || rc < 0 ? -1 : 0;
}

/* The list for a request: what is wrong with it is for the operator. */
static int
configured(struct context *c, struct witness_list *list, struct err *e)
{
	struct err own = { 0 };

	if (witness_list_read(c->service, c->arena, list, &own) == 0)
		return 0;
	log_line(LOG_WARN, "witnesses", "%s", own.detail);
	return err_set(e, &err_unavailable,
	    "which witnesses count is not known; an operator mends the list");
}

/* A checkpoint is given whatever is wrong with the list. */
int
witnesses_read(
    struct context *c, uint64_t size, struct cosignatures *out, struct err *e)
{
	struct err unknown = { 0 };
	struct witness_list list;
	struct cosignature *items;
	size_t n = 0;

	*out = (struct cosignatures){ 0 };
	if (configured(c, &list, &unknown) || list.n == 0)
		return 0;
	items = arena_array(c->arena, list.n, sizeof *items);
	if (read_rows(c, &list, size, items, &n, e))
		return -1;
	out->items = (struct list){ items, n };
	out->enough = n >= list.minimum;
	return 0;
}

int
witnesses_find_newest(struct context *c, uint64_t *size, struct err *e)
{
	struct witness_list list;
	int64_t found;

	if (configured(c, &list, e))
		return -1;
	if (list.n == 0)
		return err_set(
		    e, &err_not_found, "this service asks no witnesses");
	if (db_get_int(c->db, &found, 0, e,
		"SELECT size FROM cosignature WHERE witness || '+' || key_id IN"
		" (SELECT value FROM json_each(?)) GROUP BY size"
		" HAVING count(*) >= ? ORDER BY size DESC LIMIT 1",
		"si", names_of(c->arena, &list), (int64_t)list.minimum))
		return -1;
	if (found == 0)
		return err_set(e, &err_not_found,
		    "no checkpoint has %zu cosignatures yet; ask later",
		    list.minimum);
	*size = (uint64_t)found;
	return 0;
}
