#include "tests/support/power.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/store/journal_file.h"
#include "tests/support/witness.h"

static bool
chance(double p)
{
	return drand48() < p;
}

/* From some place on cut or zeroed in part. */
static void
tear_from(const char *path, off_t from)
{
	static const char zeros[4096];
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	off_t at, n;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > from) {
		at = from + (off_t)(drand48() * (double)(st.st_size - from));
		if (chance(0.3))
			at = from;
		n = st.st_size - at;
		if (chance(0.5) ? ftruncate(fd, at)
				: io_pwrite_all(fd, zeros,
				      n < 4096 ? (size_t)n : sizeof zeros, at))
			abort();
	}
	close(fd);
}

static void
tear(const char *path, bool may_vanish)
{
	if (may_vanish && chance(0.25)) {
		unlink(path);
		return;
	}
	chmod(path, 0600);
	tear_from(path, 0);
}

/*
 * SQLite syncs its log before it moves frames from there into the file; so only
 * frames after those can be lost. How many were moved, or were about to be,
 * stands in the index of the log (sqlite.org/walformat.html, 2.2.1).
 */
static void
tear_log(const struct toy *t)
{
	char path[400];
	uint8_t moved[4];
	uint32_t n;
	int fd;

	snprintf(path, sizeof path, "%s/state.db-shm", t->ledger_dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (io_pread_all(fd, moved, sizeof moved, 128) == 0) {
		memcpy(&n, moved, sizeof n);
		snprintf(path, sizeof path, "%s/state.db-wal", t->ledger_dir);
		if (n == 0)
			tear(path, true);
		else
			tear_from(path, 32 + (off_t)n * (4096 + 24));
	}
	close(fd);
}

static void
tear_object(const struct toy *t, struct oid oid)
{
	char hex[OID_HEX + 1], path[400];

	oid_hex(oid, hex);
	snprintf(path, sizeof path, "%s/ledger.git/objects/%.2s/%s",
	    t->ledger_dir, hex, hex + 2);
	tear(path, true);
}

/* The branch as it was once since the sync, or torn. */
static void
tear_branch(const struct toy *t, const struct oid *oids, size_t n)
{
	char path[400], text[OID_HEX + 2];
	struct err e = { 0 };

	snprintf(
	    path, sizeof path, "%s/ledger.git/refs/heads/main", t->ledger_dir);
	if (chance(0.3))
		return;
	if (chance(0.4)) {
		tear(path, false);
		return;
	}
	oid_hex(oids[(size_t)(drand48() * (double)n)], text);
	text[OID_HEX] = '\n';
	if (io_write_file(path, (struct str){ text, OID_HEX + 1 }, 0644, &e))
		witness_die(t, "%s", e.detail);
}

/* Objects and branch, as far as the journal holds them. */
static void
tear_repository(const struct toy *t)
{
	char path[400];
	struct arena *a = arena_new();
	struct oid *oids = NULL;
	struct journal *j;
	struct record r;
	struct err e = { 0 };
	size_t n = 0;
	uint64_t at;

	snprintf(path, sizeof path, "%s/ledger.git/journal", t->ledger_dir);
	if (journal_open(path, &j, &e) || journal_refresh(j, &e))
		witness_die(t, "%s", e.detail);
	at = journal_start(j);
	while (journal_read(j, &at, a, &r, &e) == 1) {
		oids = reallocarray(oids, n + 2, sizeof *oids);
		if (oids == NULL)
			abort();
		if (n == 0 && r.has_parent)
			oids[n++] = r.parent;
		oids[n++] = r.commit;
		for (size_t i = 0; i < r.n_objects; i++)
			if (chance(0.5))
				tear_object(t, r.objects[i].oid);
		arena_reset(a);
	}
	if (n > 0)
		tear_branch(t, oids, n);
	journal_close(j);
	arena_free(a);
	free(oids);
}

static void
begin_boot(const struct toy *t)
{
	char path[400];
	struct journal_header h;
	struct err e = { 0 };
	int fd;

	snprintf(path, sizeof path, "%s/ledger.git/journal", t->ledger_dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || header_read(fd, &h, &e))
		witness_die(t, "cannot read the journal");
	for (size_t i = 0; i < sizeof h.boot; i++)
		h.boot[i] = (uint8_t)lrand48();
	if (header_write(fd, &h) || (chance(0.5) && header_write(fd, &h)))
		witness_die(t, "cannot write the journal");
	close(fd);
}

void
power_loss(const struct toy *t)
{
	char path[400];

	tear_repository(t);
	if (chance(0.7))
		tear_log(t);
	snprintf(path, sizeof path, "%s/state.db-shm", t->ledger_dir);
	tear(path, true);
	snprintf(path, sizeof path, "%s/clock", t->ledger_dir);
	if (chance(0.5))
		tear(path, true);
	snprintf(path, sizeof path, "%s/ledger.git/refs/heads/main.lock",
	    t->ledger_dir);
	if (chance(0.05))
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	begin_boot(t);
}
