#include "ledger/view/db.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/private.h"

/* Statements per connection; the catalog has a few hundred. */
#define STATEMENTS 1024

/* How long another connection's lock is waited for. */
#define BUSY_MS      5000
#define BUSY_STEP_MS 5

struct cached {
	const char *sql; /* the address is the key */
	sqlite3_stmt *stmt;
	bool busy;
};

struct db {
	sqlite3 *handle;
	int64_t changes;
	struct cached cache[STATEMENTS];
};

/* rows.state */
enum { ROWS_OPEN, ROWS_FAILED, ROWS_ENDED };

static const struct err_kind *
kind_of(int rc)
{
	/* The index of the log had no room to grow. */
	if (rc == SQLITE_IOERR_SHMSIZE)
		return &err_no_space;
	/* The file was cut short, or removed while another process had it open,
	 * whose log this is. */
	if (rc == SQLITE_IOERR_SHORT_READ)
		return &err_view_damaged;
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return &err_no_space;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return &err_view_damaged;
	case SQLITE_CONSTRAINT:
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
	case SQLITE_ERROR:
		return &err_internal;
	default:
		return &err_unavailable;
	}
}

static int
fault(struct db *db, int rc, const char *what, struct err *e)
{
	return err_set(e, kind_of(rc), "read model: %s: %s", what,
	    db && db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc));
}

int
db_script(struct db *db, const char *sql, struct err *e)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : fault(db, rc, "script", e);
}

/* SQLite does not wait by itself for another process that does the same to a
 * new file. */
static int
use_log(struct db *db, struct err *e)
{
	int rc, left = BUSY_MS;

	do {
		rc = sqlite3_exec(
		    db->handle, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if ((rc & 0xff) != SQLITE_BUSY)
			break;
		left -= sqlite3_sleep(BUSY_STEP_MS);
	} while (left > 0);
	return rc == SQLITE_OK ? 0 : fault(db, rc, "journal_mode", e);
}

/*
 * The file is not mapped: a reader's mapping would be undone after each commit
 * for all threads of the process at once, and a failing read would be a signal
 * instead of an error.
 */
static int
configure(struct db *db, enum db_mode mode, struct err *e)
{
	const char *common = "PRAGMA foreign_keys = ON;"
			     "PRAGMA temp_store = MEMORY;";

	sqlite3_busy_timeout(db->handle, BUSY_MS);
	sqlite3_extended_result_codes(db->handle, 1);
	if (db_script(db, common, e))
		return -1;
	if (mode == DB_READ)
		return db_script(db, "PRAGMA query_only = ON;", e);
	if (use_log(db, e))
		return -1;
	return db_script(db,
	    "PRAGMA synchronous = NORMAL;"
	    "PRAGMA wal_autocheckpoint = 0;"
	    "PRAGMA cache_size = -16384;"
	    "PRAGMA journal_size_limit = 67108864;",
	    e);
}

/* The cached statement of this SQL, made at first use. */
static struct cached *
find(struct db *db, const char *sql, struct err *e)
{
	size_t at = ((uintptr_t)sql >> 3) * 0x9E3779B97F4A7C15u % STATEMENTS;
	int rc;

	for (size_t i = 0; i < STATEMENTS; i++) {
		struct cached *c = &db->cache[(at + i) % STATEMENTS];

		if (c->sql == sql)
			return c;
		if (c->sql != NULL)
			continue;
		rc = sqlite3_prepare_v3(db->handle, sql, -1,
		    SQLITE_PREPARE_PERSISTENT, &c->stmt, NULL);
		if (rc != SQLITE_OK) {
			fault(db, rc, sql, e);
			return NULL;
		}
		c->sql = sql;
		return c;
	}
	err_set(e, &err_internal, "read model: too many statements");
	return NULL;
}

/* Prepared when the connection is opened: what ends a transaction for want of
 * memory must not want any. */
static const char rollback_sql[] = "ROLLBACK";

/* Memory statistics, which nobody reads, would take a lock of the whole process
 * at each allocation of each connection. */
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void
set_up_library(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

int
db_open(const char *path, enum db_mode mode, struct db **out, struct err *e)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	struct db *db = calloc(1, sizeof *db);
	int rc;

	*out = NULL;
	if (db == NULL)
		return err_set(e, &err_unavailable, "no memory");
	pthread_once(&library_once, set_up_library);
	if (mode == DB_WRITE) {
		flags |= SQLITE_OPEN_CREATE;
		private_touch(path);
	}
	rc = sqlite3_open_v2(path, &db->handle, flags, NULL);
	if (rc != SQLITE_OK) {
		fault(db, rc, "open", e);
		db_close(db);
		return -1;
	}
	/* SQLite opens for reading what it cannot open for writing, if only for
	 * want of a file descriptor, and would keep to that for good. */
	if (mode == DB_WRITE && sqlite3_db_readonly(db->handle, "main") == 1) {
		db_close(db);
		return err_set(e, &err_unavailable,
		    "read model: cannot open %s for writing", path);
	}
	if (configure(db, mode, e) || !find(db, rollback_sql, e)) {
		db_close(db);
		return -1;
	}
	*out = db;
	return 0;
}

void
db_close(struct db *db)
{
	if (db == NULL)
		return;
	for (size_t i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(db->cache[i].stmt);
	sqlite3_close(db->handle);
	free(db);
}

static int
bind_text(sqlite3_stmt *s, int i, struct str v)
{
	if (v.p == NULL)
		return sqlite3_bind_null(s, i);
	return sqlite3_bind_text64(
	    s, i, v.p, v.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int
bind_blob(sqlite3_stmt *s, int i, struct str v)
{
	if (v.p == NULL)
		return sqlite3_bind_null(s, i);
	return sqlite3_bind_blob64(s, i, v.p, v.n, SQLITE_TRANSIENT);
}

static int
bind_uid(sqlite3_stmt *s, int i, struct uid v)
{
	char text[UID_TEXT + 1];

	if (uid_is_none(v))
		return sqlite3_bind_null(s, i);
	uid_format(v, text);
	return sqlite3_bind_text(s, i, text, UID_TEXT, SQLITE_TRANSIENT);
}

static int
bind_opt(sqlite3_stmt *s, int i, bool set, int64_t v)
{
	return set ? sqlite3_bind_int64(s, i, v) : sqlite3_bind_null(s, i);
}

static int
bind_one(sqlite3_stmt *s, int i, char type, va_list *ap)
{
	struct digest d;
	struct opt_int o;
	int64_t us;

	switch (type) {
	case 's':
		return bind_text(s, i, va_arg(*ap, struct str));
	case 'b':
		return bind_blob(s, i, va_arg(*ap, struct str));
	case 'i':
		return sqlite3_bind_int64(s, i, va_arg(*ap, int64_t));
	case 'o':
		o = va_arg(*ap, struct opt_int);
		return bind_opt(s, i, o.set, o.v);
	case 'u':
		return bind_uid(s, i, va_arg(*ap, struct uid));
	case 'd':
		d = va_arg(*ap, struct digest);
		return sqlite3_bind_blob(
		    s, i, d.b, DIGEST_BYTES, SQLITE_TRANSIENT);
	case 't':
		us = va_arg(*ap, struct instant).us;
		return bind_opt(s, i, us != 0, us);
	case 'f':
		return sqlite3_bind_int(s, i, va_arg(*ap, int) != 0);
	default:
		return SQLITE_MISUSE;
	}
}

/* A bound statement, ready to step. */
static struct cached *
prepare(struct db *db, const char *sql, const char *types, va_list *ap,
    struct err *e)
{
	struct cached *c = find(db, sql, e);
	int rc;

	if (c == NULL)
		return NULL;
	if (c->busy) {
		err_set(
		    e, &err_internal, "read model: statement in use: %s", sql);
		return NULL;
	}
	for (int i = 0; types[i] != '\0'; i++) {
		rc = bind_one(c->stmt, i + 1, types[i], ap);
		if (rc != SQLITE_OK) {
			fault(db, rc, sql, e);
			return NULL;
		}
	}
	return c;
}

int
db_run(struct db *db, struct err *e, const char *sql, const char *types, ...)
{
	struct cached *c;
	va_list ap;
	int rc;

	va_start(ap, types);
	c = prepare(db, sql, types, &ap, e);
	va_end(ap);
	if (c == NULL)
		return -1;
	rc = sqlite3_step(c->stmt);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		fault(db, rc, sql, e);
	sqlite3_reset(c->stmt);
	db->changes = sqlite3_changes64(db->handle);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : -1;
}

int64_t
db_changes(const struct db *db)
{
	return db->changes;
}

static int
query(struct db *db, struct rows *r, struct err *e, const char *sql,
    const char *types, va_list *ap)
{
	struct cached *c = prepare(db, sql, types, ap, e);

	*r = (struct rows){ .db = db, .state = ROWS_FAILED };
	if (c == NULL)
		return -1;
	c->busy = true;
	r->stmt = c->stmt;
	r->cached = c;
	r->state = ROWS_OPEN;
	return 0;
}

int
db_query(struct db *db, struct rows *r, struct err *e, const char *sql,
    const char *types, ...)
{
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = query(db, r, e, sql, types, &ap);
	va_end(ap);
	return rc;
}

int
rows_next(struct rows *r, struct err *e)
{
	int rc;

	if (r->state != ROWS_OPEN)
		return r->state == ROWS_FAILED ? -1 : 0;
	rc = sqlite3_step(r->stmt);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE) {
		r->state = ROWS_ENDED;
		return 0;
	}
	r->state = ROWS_FAILED;
	return fault(r->db, rc, "query", e);
}

int
rows_end(struct rows *r, struct err *e)
{
	struct cached *c = r->cached;

	if (c != NULL) {
		sqlite3_reset(c->stmt);
		c->busy = false;
		r->cached = NULL;
	}
	if (r->state == ROWS_FAILED)
		return err_set(e, &err_internal, "read model: query failed");
	return 0;
}

int
db_get_int(struct db *db, int64_t *out, int64_t absent, struct err *e,
    const char *sql, const char *types, ...)
{
	struct rows r;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = query(db, &r, e, sql, types, &ap);
	va_end(ap);
	if (rc)
		return -1;
	*out = absent;
	if (rows_next(&r, e) == 1 && !rows_is_null(&r, 0))
		*out = rows_int(&r, 0);
	return rows_end(&r, e);
}

bool
db_in_transaction(const struct db *db)
{
	return sqlite3_get_autocommit(db->handle) == 0;
}

int
db_begin_write(struct db *db, struct err *e)
{
	db_rollback(db); /* one that could not be rolled back when it failed */
	return db_run(db, e, "BEGIN IMMEDIATE", "");
}

int
db_begin_read(struct db *db, struct err *e)
{
	db_rollback(db);
	return db_run(db, e, "BEGIN", "");
}

int
db_commit(struct db *db, struct err *e)
{
	return db_run(db, e, "COMMIT", "");
}

void
db_rollback(struct db *db)
{
	if (db_in_transaction(db))
		db_run(db, NULL, rollback_sql, "");
}

int
db_savepoint(struct db *db, struct err *e)
{
	return db_run(db, e, "SAVEPOINT command", "");
}

int
db_savepoint_release(struct db *db, struct err *e)
{
	return db_run(db, e, "RELEASE command", "");
}

int
db_savepoint_rollback(struct db *db, struct err *e)
{
	if (db_run(db, e, "ROLLBACK TO command", ""))
		return -1;
	return db_run(db, e, "RELEASE command", "");
}

int
db_checkpoint(struct db *db, struct err *e)
{
	int rc = sqlite3_wal_checkpoint_v2(
	    db->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

	if (rc == SQLITE_OK || rc == SQLITE_BUSY)
		return 0;
	return fault(db, rc, "checkpoint", e);
}
