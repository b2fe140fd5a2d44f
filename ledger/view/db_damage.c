/*
 * A damaged file. It is emptied in its place, by SQLite and under its locks,
 * and never removed: another process that has it open goes on with what is in
 * it.
 */
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "ledger/view/db.h"

#define BUSY_MS 5000

static int
fault(sqlite3 *handle, int rc, const char *what, struct err *e)
{
	/* Nothing of a log can be shared where the first page is damaged. */
	if ((rc & 0xff) == SQLITE_BUSY)
		return err_set(e, &err_unavailable,
		    "the read model is damaged and in use: stop the services,"
		    " then give the command again");
	return err_set(e, &err_unavailable, "read model: %s: %s", what,
	    handle ? sqlite3_errmsg(handle) : sqlite3_errstr(rc));
}

static int
open_as_is(const char *path, sqlite3 **out, struct err *e)
{
	int rc = sqlite3_open_v2(
	    path, out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(*out, BUSY_MS);
		sqlite3_extended_result_codes(*out, 1);
		return 0;
	}
	fault(*out, rc, "open", e);
	sqlite3_close(*out);
	return -1;
}

/* SQLite's own words for a file in which it finds nothing wrong. */
static int
note_finding(void *damaged, int columns, char **texts, char **names)
{
	(void)names;
	if (columns != 1 || texts[0] == NULL || strcmp(texts[0], "ok") != 0)
		*(bool *)damaged = true;
	return 0;
}

static bool
is_damage(int rc)
{
	return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB ||
	       rc == SQLITE_IOERR_SHORT_READ;
}

int
db_is_damaged(const char *path, bool *damaged, struct err *e)
{
	sqlite3 *handle;
	int rc;

	*damaged = false;
	if (access(path, F_OK) != 0)
		return 0;
	if (open_as_is(path, &handle, e))
		return -1;
	rc = sqlite3_exec(
	    handle, "PRAGMA quick_check(1)", note_finding, damaged, NULL);
	if (is_damage(rc))
		*damaged = true;
	else if (rc != SQLITE_OK)
		fault(handle, rc, "quick_check", e);
	sqlite3_close(handle);
	return rc == SQLITE_OK || *damaged ? 0 : -1;
}

/* sqlite.org/c3ref/c_dbconfig_defensive.html, SQLITE_DBCONFIG_RESET_DATABASE:
 * works whatever is in the file. */
int
db_empty(const char *path, struct err *e)
{
	sqlite3 *handle;
	int rc;

	if (open_as_is(path, &handle, e))
		return -1;
	/* Once read, a file that has a log keeps it. That it may not be
	 * readable is why we are here. */
	(void)sqlite3_exec(handle, "PRAGMA schema_version", NULL, NULL, NULL);
	rc = sqlite3_db_config(handle, SQLITE_DBCONFIG_RESET_DATABASE, 1, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(handle, "VACUUM", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		fault(handle, rc, "empty", e);
	sqlite3_close(handle);
	return rc == SQLITE_OK ? 0 : -1;
}
