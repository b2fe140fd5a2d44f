/*
 * The erasure list: content/erased/<uid> holds the bytes of one subject.erased
 * event. It stands with the keys and not with the ledger, so that neither an
 * older copy of the ledger nor one of the keys brings back what was erased. A
 * file each, so that an older copy laid over the folder takes none away.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/write/content.h"
#include "ledger/write/writer.h"

static char *
list_folder(const struct ledger *l, struct arena *a)
{
	return arena_printf(a, "%s/erased", l->content_dir);
}

static char *
list_path(const struct ledger *l, struct uid uid, struct arena *a)
{
	char text[UID_TEXT + 1];

	uid_format(uid, text);
	return arena_printf(a, "%s/%s", list_folder(l, a), text);
}

static int
write_entry(struct ledger *l, struct uid uid, struct str bytes, struct err *e)
{
	struct arena *a = arena_new();
	int rc = io_make_dirs(list_folder(l, a), 0700, e);

	if (rc == 0)
		rc = io_write_file(list_path(l, uid, a), bytes, 0600, e);
	arena_free(a);
	return rc;
}

/* The list's entry of an event, where it is missing. */
static int
keep_entry(struct reading *r, struct uid uid, uint64_t seq, struct err *e)
{
	struct arena *a = arena_new();
	struct stored_event stored;
	int rc = 0;

	if (access(list_path(r->ledger, uid, a), F_OK) != 0) {
		rc = ledger_read_event(r, seq, a, &stored, e);
		if (rc == 0)
			rc = write_entry(
			    r->ledger, uid, stored.recorded.event.bytes, e);
	}
	arena_free(a);
	return rc;
}

static int
keep_list(struct reading *r, struct err *e)
{
	struct rows rows;
	int rc = 0;

	if (db_query(
		r->db, &rows, e, "SELECT uid, seq FROM ledger_erasure", ""))
		return -1;
	while (rc == 0 && rows_next(&rows, e) == 1)
		rc = keep_entry(
		    r, rows_uid(&rows, 0), (uint64_t)rows_int(&rows, 1), e);
	return rows_end(&rows, e) ? -1 : rc;
}

static int
destroy_keys(struct reading *r, struct err *e)
{
	struct rows rows;
	int rc = 0;

	if (db_query(r->db, &rows, e, "SELECT key FROM ledger_erased_key", ""))
		return -1;
	while (rows_next(&rows, e) == 1)
		if (content_key_destroy(r->ledger, rows_uid(&rows, 0), e))
			rc = -1; /* the others go all the same */
	return rows_end(&rows, e) ? -1 : rc;
}

/* What the ledger knows of: first the list, so that a key that is gone is
 * accounted for. */
static int
finish_known(struct ledger *l, struct err *e)
{
	struct reading r;
	int rc;

	if (ledger_read_begin(l, &r, e))
		return -1;
	rc = keep_list(&r, e);
	if (rc == 0)
		rc = destroy_keys(&r, e);
	ledger_read_end(&r);
	return rc;
}

/* An entry that the ledger may not know. */
struct entry {
	struct event event;
	struct subject_erased data;
};

static int
read_entry(struct ledger *l, struct uid uid, struct arena *a, struct entry *out,
    struct err *e)
{
	char *path = list_path(l, uid, a);
	struct str bytes;
	struct err why = { 0 };

	if (io_read_file(a, path, EVENT_MAX, &bytes, e))
		return -1;
	if (event_parse(a, bytes, &out->event, &why) ||
	    !str_is(out->event.type, event_subject_erased.name) ||
	    !uid_eq(out->event.uid, uid) ||
	    shape_decode_json(
		&subject_erased_shape, out->event.data, a, &out->data, &why))
		return err_set(e, &err_corrupt,
		    "%s is not what this program wrote; put it back from a "
		    "backup of the keys",
		    path);
	return 0;
}

static int
decide_again(struct tx *tx, void *arg, struct err *e)
{
	const struct entry *entry = arg;

	return subject_erase_again(tx, &entry->event, &entry->data, e);
}

/* Whether the ledger holds values under keys that it takes for good. */
static int
holds_any(
    struct ledger *l, const struct entry *entry, bool *holds, struct err *e)
{
	const struct carried_value *carried = entry->data.carried.items;
	struct reading r;
	int64_t n = 0;
	int rc = 0;

	if (ledger_read_begin(l, &r, e))
		return -1;
	for (size_t i = 0; rc == 0 && n == 0 && i < entry->data.carried.n; i++)
		rc = db_get_int(r.db, &n, 0, e,
		    "SELECT count(*) FROM ledger_content_key WHERE key = ?"
		    " AND key NOT IN (SELECT key FROM ledger_erased_key)",
		    "u", carried[i].key);
	ledger_read_end(&r);
	*holds = n > 0;
	return rc;
}

static int
append_again(
    struct ledger *l, struct entry *entry, struct arena *a, struct err *e)
{
	struct command c = {
		.decide = decide_again,
		.arg = entry,
		.actor = { .kind = STR("worker"), .id = STR("erasure-list") },
		.arena = a,
	};
	struct receipt receipt;

	if (ledger_submit(l, &c, &receipt, e))
		return -1;
	if (receipt.n > 0)
		log_line(LOG_WARN, "ledger",
		    "%.*s: an erasure of the list was appended again as event "
		    "%" PRIu64,
		    STR_ARGS(l->origin), receipt.events[0].seq);
	return 0;
}

/* The keys go at once: the list is word enough. */
static int
replay(struct ledger *l, struct entry *entry, struct arena *a, struct err *e)
{
	const struct carried_value *carried = entry->data.carried.items;
	bool holds;

	for (size_t i = 0; i < entry->data.carried.n; i++)
		if (content_key_destroy(l, carried[i].key, e))
			return -1;
	if (holds_any(l, entry, &holds, e))
		return -1;
	return holds ? append_again(l, entry, a, e) : 0;
}

static int
is_known(struct ledger *l, struct uid uid, bool *known, struct err *e)
{
	struct reading r;
	int64_t seq = -1;
	int rc;

	if (ledger_read_begin(l, &r, e))
		return -1;
	rc = db_get_int(r.db, &seq, -1, e,
	    "SELECT seq FROM ledger_erasure WHERE uid = ? OR replays = ?", "uu",
	    uid, uid);
	ledger_read_end(&r);
	*known = seq >= 0;
	return rc;
}

static int
visit(struct ledger *l, struct uid uid, struct err *e)
{
	struct arena *a = arena_new();
	struct entry entry;
	bool known;
	int rc = is_known(l, uid, &known, e);

	if (rc == 0 && !known) {
		rc = read_entry(l, uid, a, &entry, e);
		if (rc == 0)
			rc = replay(l, &entry, a, e);
	}
	arena_free(a);
	return rc;
}

static int
visit_all(struct ledger *l, DIR *d, struct err *e)
{
	struct dirent *entry;
	struct uid uid;
	int rc = 0;

	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((entry = readdir(d)) != NULL)
		if (uid_parse(str_from(entry->d_name), &uid) &&
		    visit(l, uid, e))
			rc = -1;
	return rc;
}

/* What only the list knows of: the ledger is older than it. */
static int
replay_unknown(struct ledger *l, struct err *e)
{
	struct arena *a = arena_new();
	char *path = list_folder(l, a);
	DIR *d = opendir(path);
	int rc = 0;

	if (d == NULL && errno != ENOENT)
		rc = err_errno(e, &err_unavailable, "%s", path);
	if (d != NULL) {
		rc = visit_all(l, d, e);
		closedir(d);
	}
	arena_free(a);
	return rc;
}

int
ledger_settle_erasures(struct ledger *l, struct err *e)
{
	struct err known = { 0 };
	int rc = replay_unknown(l, e);

	if (finish_known(l, &known) == 0)
		return rc;
	return err_set(e, known.kind, "%s", known.detail);
}
