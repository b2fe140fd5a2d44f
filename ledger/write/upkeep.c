#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/store/pack.h"
#include "ledger/write/writer.h"

#define PACK_AT_ONCE 65536
#define PAYLOAD_SALT 32

/* The schema's fingerprint, kept as SQLite's user_version: another one means
 * another program, and the read model is made anew. */
static int64_t
fingerprint(const struct ledger *l)
{
	struct str parts[64] = { str_from(core_sql) };
	size_t n = 1;
	struct digest d;

	for (size_t i = 0; l->views && l->views[i] && n < 64; i++)
		parts[n++] = str_from(l->views[i]->schema);
	d = sha256_parts(parts, n);
	return (int64_t)(d.b[0] & 0x3f) << 24 | d.b[1] << 16 | d.b[2] << 8 |
	       d.b[3] | 1;
}

static int
list_tables(struct ledger *l, struct arena *a, struct buf *sql, struct err *e)
{
	struct rows r;

	if (db_query(l->db, &r, e,
		"SELECT type, name FROM sqlite_master WHERE type IN"
		" ('table', 'view') AND name NOT LIKE 'sqlite_%'",
		""))
		return -1;
	while (rows_next(&r, e) == 1)
		buf_addf(sql, "DROP %s \"%s\";", rows_str(&r, 0, a).p,
		    rows_str(&r, 1, a).p);
	return rows_end(&r, e);
}

/* Within a transaction. */
int
schema_reset(struct ledger *l, struct err *e)
{
	struct arena *a = arena_new();
	struct buf sql;
	int rc;

	buf_init(&sql, 1 << 20);
	rc = list_tables(l, a, &sql, e);
	buf_add_cstr(&sql, core_sql);
	for (size_t i = 0; l->views && l->views[i]; i++)
		if (l->views[i]->schema != NULL)
			buf_add_cstr(&sql, l->views[i]->schema);
	buf_addf(
	    &sql, "PRAGMA user_version = %lld;", (long long)fingerprint(l));
	buf_add_byte(&sql, 0);
	if (rc == 0)
		rc = db_script(l->db, "PRAGMA defer_foreign_keys = ON;", e);
	if (rc == 0)
		rc = db_script(l->db, sql.p, e);
	buf_fini(&sql);
	arena_free(a);
	return rc;
}

int
schema_ensure(struct ledger *l, struct err *e)
{
	int64_t have;

	if (db_get_int(l->db, &have, 0, e, "PRAGMA user_version", ""))
		return -1;
	if (have == fingerprint(l))
		return 0;
	if (db_begin_write(l->db, e))
		return -1;
	if (schema_reset(l, e) == 0 && db_commit(l->db, e) == 0)
		return 0;
	db_rollback(l->db);
	return -1;
}

/* Moves SQLite's log; on a connection of its own, beside the writer. */
static int
checkpoint(struct ledger *l, struct err *e)
{
	struct db *db;
	int rc;

	if (db_open(l->db_path, DB_WRITE, &db, e))
		return -1;
	rc = db_checkpoint(db, e);
	db_close(db);
	return rc;
}

/* Publishes what is pending and says where the journal ends. */
static int
note_end(struct ledger *l, uint64_t *end, uint64_t *used, struct err *e)
{
	int rc;

	if (ledger_take_turn(l, e))
		return -1;
	rc = ledger_ready(l, e);
	*end = journal_end(l->journal);
	*used = journal_used(l->journal);
	ledger_release_turn(l);
	return rc;
}

static int
free_journal(struct ledger *l, uint64_t end, struct err *e)
{
	int rc;

	if (ledger_take_turn(l, e))
		return -1;
	rc = journal_refresh(l->journal, e);
	if (rc == 0 && (l->torn || journal_from_other_boot(l->journal)))
		rc = err_set(e, &err_unavailable,
		    "objects have to be written again before they are synced");
	else if (rc == 0 && journal_start(l->journal) < end)
		rc = journal_free(l->journal, end, e);
	if (rc)
		l->failed = true;
	ledger_release_turn(l);
	return rc;
}

static bool
claim_sync(struct ledger *l)
{
	bool mine;

	pthread_mutex_lock(&l->lock);
	mine = !l->syncing;
	l->syncing = true;
	pthread_mutex_unlock(&l->lock);
	return mine;
}

/* Every process has to know: to each of them the next sync will succeed. */
static void
note_torn(struct ledger *l)
{
	if (ledger_take_turn(l, NULL))
		return;
	l->torn = true;
	if (journal_refresh(l->journal, NULL) ||
	    journal_doubt_boot(l->journal, NULL))
		l->failed = true;
	ledger_release_turn(l);
}

/* Without the turn: writers go on while the disk catches up. */
static int
sync_all(struct ledger *l, struct err *e)
{
	if (checkpoint(l, e))
		return -1;
	/* By the directory that was opened first: it is told of all that failed
	 * since. Any thread may. */
	if (repo_sync(l->repo, e) == 0)
		return 0;
	note_torn(l);
	return -1;
}

int
ledger_sync(struct ledger *l, struct err *e)
{
	uint64_t end, used;
	int rc;

	if (!claim_sync(l))
		return 0;
	rc = note_end(l, &end, &used, e);
	if (rc == 0 && used > 0) {
		rc = sync_all(l, e);
		if (rc == 0)
			rc = free_journal(l, end, e);
	}
	pthread_mutex_lock(&l->lock);
	l->syncing = false;
	pthread_mutex_unlock(&l->lock);
	return rc;
}

int
ledger_pack(struct ledger *l, size_t threshold, size_t *packed, struct err *e)
{
	struct repo *repo = NULL;
	struct turn *turn = NULL;
	size_t loose;
	int rc = -1;

	*packed = 0;
	if (repo_open(l->repo_path, &repo, e))
		return -1;
	if (pack_count_loose(repo, threshold, &loose, e) == 0 &&
	    turn_open(l->dir, &turn, e) == 0)
		rc = loose < threshold
			 ? 0
			 : pack_loose(repo, turn, PACK_AT_ONCE, packed, e);
	turn_close(turn);
	repo_close(repo);
	return rc;
}

int
ledger_count_loose(struct ledger *l, size_t stop, size_t *n, struct err *e)
{
	struct repo *repo;
	int rc;

	if (repo_open(l->repo_path, &repo, e))
		return -1;
	rc = pack_count_loose(repo, stop, n, e);
	repo_close(repo);
	return rc;
}

int
ledger_store_payload(
    struct ledger *l, struct str content, struct payload *p, struct err *e)
{
	struct object o = { .kind = OBJECT_BLOB };
	struct repo *repo;
	struct buf b;
	int rc = -1;

	buf_init(&b, content.n + PAYLOAD_SALT);
	random_bytes(buf_grow(&b, PAYLOAD_SALT), PAYLOAD_SALT);
	buf_add(&b, content);
	o.bytes = buf_str(&b);
	if (repo_open(l->repo_path, &repo, e) == 0) {
		if (repo_oid(o.kind, o.bytes, &o.oid, e) == 0)
			rc = repo_write_synced(repo, &o, e);
		repo_close(repo);
	}
	p->sha256 = sha256(content);
	p->size = content.n;
	p->oid = o.oid;
	buf_fini(&b);
	return rc;
}
