#include <sqlite3.h>

#include "ledger/view/db.h"

bool
rows_is_null(const struct rows *r, int column)
{
	return sqlite3_column_type(r->stmt, column) == SQLITE_NULL;
}

int64_t
rows_int(const struct rows *r, int column)
{
	return sqlite3_column_int64(r->stmt, column);
}

struct opt_int
rows_opt_int(const struct rows *r, int column)
{
	if (rows_is_null(r, column))
		return (struct opt_int){ 0 };
	return (struct opt_int){ true, rows_int(r, column) };
}

bool
rows_bool(const struct rows *r, int column)
{
	return rows_int(r, column) != 0;
}

/* Text and BLOBs alike; SQLite gives NULL for a BLOB of length zero. */
struct str
rows_borrow(const struct rows *r, int column)
{
	const void *p;

	if (rows_is_null(r, column))
		return STR_NONE;
	p = sqlite3_column_blob(r->stmt, column);
	return (struct str){ p ? p : "",
		(size_t)sqlite3_column_bytes(r->stmt, column) };
}

struct str
rows_str(const struct rows *r, int column, struct arena *a)
{
	struct str s = rows_borrow(r, column);

	return s.p ? arena_str(a, s) : STR_NONE;
}

struct uid
rows_uid(const struct rows *r, int column)
{
	struct uid u = { { 0 } };

	if (!uid_parse(rows_borrow(r, column), &u))
		return (struct uid){ { 0 } };
	return u;
}

struct digest
rows_digest(const struct rows *r, int column)
{
	struct str s = rows_borrow(r, column);
	struct digest d = { { 0 } };

	for (size_t i = 0; i < s.n && i < DIGEST_BYTES; i++)
		d.b[i] = (uint8_t)s.p[i];
	return d;
}

struct instant
rows_instant(const struct rows *r, int column)
{
	return (struct instant){ rows_int(r, column) };
}
