/*
 * SQLite. A db is one connection, used by one thread at a time. Statements are
 * prepared once per connection, found by the address of their SQL, which
 * therefore must be a literal.
 *
 * Arguments follow a string of types:
 *	s struct str (no value: NULL)   b struct str as a BLOB
 *	i int64_t      o struct opt_int  u struct uid (none: NULL), as text
 *	d struct digest, as a BLOB       t struct instant (0: NULL), as integer
 *	f bool
 *
 *	db_run(db, e, "UPDATE source SET reserved = ? WHERE uid = ?", "iu",
 *	    minor, uid);
 *
 *	struct rows r;
 *	if (db_query(db, &r, e, "SELECT id, name FROM x WHERE uid = ?", "u",
 *uid)) return -1; while (rows_next(&r, e) == 1) … rows_int(&r, 0), rows_str(&r,
 *1, arena) … if (rows_end(&r, e)) return -1;
 */
#ifndef LEDGER_VIEW_DB_H
#define LEDGER_VIEW_DB_H

#include "ledger/base/uid.h"
#include "ledger/codec/shape.h"
#include "ledger/crypto/hash.h"

struct db;
struct sqlite3_stmt;
struct cached;

enum db_mode { DB_WRITE, DB_READ };

/* Opens (DB_WRITE: makes) the file: WAL, synchronous NORMAL, foreign keys
 * checked, no automatic checkpoints. */
int db_open(const char *path, enum db_mode, struct db **, struct err *);
void db_close(struct db *);

/* Whether SQLite finds the file damaged, all of it looked at; a file that is
 * not there is not. */
int db_is_damaged(const char *path, bool *damaged, struct err *);

/* Leaves an empty database in the file, whatever was in it, as one change that
 * others who have it open see as such. */
int db_empty(const char *path, struct err *);

/* One change; *changed, if given by db_changes, is the number of rows. */
int db_run(struct db *, struct err *, const char *sql, const char *types, ...);
int64_t db_changes(const struct db *);

/* Several statements without arguments: schemas. */
int db_script(struct db *, const char *sql, struct err *);

struct rows {
	struct db *db;
	struct sqlite3_stmt *stmt;
	struct cached *cached;
	int state;
};

int db_query(struct db *, struct rows *, struct err *, const char *sql,
    const char *types, ...);

/* 1 a row, 0 no more, -1. */
int rows_next(struct rows *, struct err *);

/* Ends the query; -1 when it had failed. Must follow every db_query. */
int rows_end(struct rows *, struct err *);

bool rows_is_null(const struct rows *, int column);
int64_t rows_int(const struct rows *, int column);
struct opt_int rows_opt_int(const struct rows *, int column);
bool rows_bool(const struct rows *, int column);
struct str rows_str(const struct rows *, int column, struct arena *);
/* Text or BLOB, valid until the next call on these rows. */
struct str rows_borrow(const struct rows *, int column);
struct uid rows_uid(const struct rows *, int column);
struct digest rows_digest(const struct rows *, int column);
struct instant rows_instant(const struct rows *, int column);

/* One integer from a query that gives one row; `absent` when it gives none. */
int db_get_int(struct db *, int64_t *out, int64_t absent, struct err *,
    const char *sql, const char *types, ...);

/* Transactions. */
int db_begin_write(struct db *, struct err *);
int db_begin_read(struct db *, struct err *);
int db_commit(struct db *, struct err *);
void db_rollback(struct db *);
int db_savepoint(struct db *, struct err *);
int db_savepoint_release(struct db *, struct err *);
int db_savepoint_rollback(struct db *, struct err *);

/* Whether a transaction is open; SQLite may end one by itself on a fault. */
bool db_in_transaction(const struct db *);

/* Moves the write-ahead log into the file and syncs it. For the worker. */
int db_checkpoint(struct db *, struct err *);

#endif
