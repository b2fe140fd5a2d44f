#include "ledger/store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/store/journal_scan.h"
#include "ledger/store/leftovers.h"

#define SYNC_TRIES 3

static int
check_size(int fd, const struct journal_header *h, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_errno(
		    e, &err_unavailable, "cannot examine the journal");
	if (!S_ISREG(st.st_mode) || st.st_size < 0 ||
	    (uint64_t)st.st_size < JOURNAL_HEADER + h->ring)
		return err_set(
		    e, &err_corrupt, "the journal is shorter than it says");
	return 0;
}

int
journal_open(const char *path, struct journal **out, struct err *e)
{
	struct journal *j;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT) {
		if (journal_file_create(path, JOURNAL_BYTES, e))
			return -1;
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	}
	if (fd < 0)
		return err_errno(e, &err_unavailable, "cannot open %s", path);
	j = calloc(1, sizeof(*j));
	if (!j)
		abort();
	j->fd = fd;
	boot_id(j->boot);
	if (header_read(fd, &j->header, e) || check_size(fd, &j->header, e)) {
		journal_close(j);
		return -1;
	}
	j->end = j->header.start;
	leftovers_remove(path);
	*out = j;
	return 0;
}

void
journal_close(struct journal *j)
{
	if (!j)
		return;
	close(j->fd);
	free(j->buffer);
	free(j);
}

/* Walks to the end; *torn is where a torn record begins, if *is_torn. */
static int
walk(struct journal *j, uint64_t *torn, bool *is_torn, struct err *e)
{
	uint8_t *bytes;
	size_t total;

	*is_torn = false;
	for (;;) {
		uint64_t at = j->end;

		switch (scan_from(j, &at, NULL, &bytes, &total)) {
		case FOUND_NONE:
			return 0;
		case FOUND_TORN:
			*torn = at;
			*is_torn = true;
			return scan_refuse_damage(j, at + JOURNAL_UNIT, e);
		case FOUND_FAILED:
			return err_errno(
			    e, &err_unavailable, "cannot read the journal");
		case FOUND_WHOLE:
			j->last = at;
			j->has_last = true;
			j->end = at + total;
		}
	}
}

static int
header_again(struct journal *j, struct err *e)
{
	struct journal_header h;

	if (header_read(j->fd, &h, e))
		return -1;
	if (h.ring != j->header.ring || h.counter < j->header.counter ||
	    memcmp(h.key, j->header.key, JOURNAL_KEY))
		return err_set(
		    e, &err_corrupt, "the journal is not the one it was");
	j->header = h;
	if (j->end < h.start) {
		j->end = h.start;
		j->has_last = false;
	}
	return 0;
}

int
journal_refresh(struct journal *j, struct err *e)
{
	uint64_t torn;
	bool is_torn;
	int rc = -1;

	if (header_again(j, e) || walk(j, &torn, &is_torn, e))
		goto out;
	if (is_torn && (scan_erase(j, torn) || fdatasync(j->fd))) {
		j->broken = true;
		err_errno(
		    e, &err_unavailable, "cannot clear the journal's end");
		goto out;
	}
	rc = 0;
out:
	scan_buffer_shrink(j);
	return rc;
}

uint64_t
journal_start(const struct journal *j)
{
	return j->header.start;
}

uint64_t
journal_end(const struct journal *j)
{
	return j->end;
}

uint64_t
journal_used(const struct journal *j)
{
	return j->end - j->header.start;
}

int
journal_read(struct journal *j, uint64_t *position, struct arena *a,
    struct record *out, struct err *e)
{
	uint64_t at = *position;
	uint8_t *bytes;
	size_t total;

	if (at >= j->end)
		return 0;
	if (at >= j->header.start &&
	    scan_from(j, &at, a, &bytes, &total) == FOUND_WHOLE &&
	    record_decode(a, bytes, total, out)) {
		*position = at + total;
		return 1;
	}
	return err_set(e, &err_corrupt,
	    "the journal has no whole record at %llu", (unsigned long long)at);
}

int
journal_read_last(struct journal *j, uint64_t from, struct arena *a,
    struct record *out, struct err *e)
{
	uint64_t at = j->last;

	if (from < j->header.start)
		from = j->header.start;
	if (!j->has_last || at < from)
		return 0;
	return journal_read(j, &at, a, out, e);
}

/* A failed sync leaves the pages clean though they are not on the disk, so
 * everything that may have been among them is written again. */
static int
sync_again(struct journal *j, const uint8_t *bytes, size_t n, uint64_t at)
{
	for (int i = 0; i < SYNC_TRIES; i++) {
		struct timespec pause = { 0, 10000000L << i };
		struct journal_header h = j->header;

		nanosleep(&pause, NULL);
		if (!header_write(j->fd, &h)) {
			j->header = h;
			if ((!n || !io_pwrite_all(
				       j->fd, bytes, n, scan_offset(j, at))) &&
			    !fdatasync(j->fd))
				return 0;
		}
	}
	return -1;
}

/* Where a record of that length goes; false when there is no room. */
static bool
room_for(const struct journal *j, size_t total, uint64_t *at)
{
	*at = j->end;
	if (scan_lap_rest(j, *at) < total)
		*at += scan_lap_rest(j, *at);
	return *at + total - j->header.start <= j->header.ring;
}

/* After a failed write: nothing of the record may stay. */
static int
append_undo(struct journal *j, uint64_t at, struct err *e)
{
	int cause = errno;

	if (!scan_erase(j, at) && !fdatasync(j->fd)) {
		errno = cause;
		return err_errno(
		    e, &err_unavailable, "cannot write the journal");
	}
	j->broken = true;
	return err_set(e, &err_outcome_unknown,
	    "the journal could neither be written nor be cleared");
}

int
journal_append(struct journal *j, const struct record *r, struct err *e)
{
	size_t total = record_size(r);
	uint8_t *bytes;
	uint64_t at;
	int rc = -1;

	if (j->broken)
		return err_set(e, &err_unavailable,
		    "the journal has to be recovered first");
	if (!total)
		return err_set(e, &err_too_large,
		    "the batch is longer than %u bytes", JOURNAL_RECORD_MAX);
	if (!room_for(j, total, &at))
		return err_set(e, &err_unavailable, "the journal is full");
	bytes = scan_buffer(j, total);
	record_encode(r, at, j->header.key, bytes, total);
	if (io_pwrite_all(j->fd, bytes, total, scan_offset(j, at))) {
		append_undo(j, at, e);
		goto out;
	}
	if (fdatasync(j->fd) && sync_again(j, bytes, total, at)) {
		j->broken = true;
		err_errno(e, &err_outcome_unknown, "cannot sync the journal");
		/* err_errno takes a full disk for a refusal; this is none. */
		if (e)
			e->kind = &err_outcome_unknown;
		goto out;
	}
	j->last = at;
	j->has_last = true;
	j->end = at + total;
	rc = 0;
out:
	scan_buffer_shrink(j);
	return rc;
}

/* The last record as it is read now, written once more. */
static int
rewrite_last(struct journal *j)
{
	uint8_t *bytes;
	size_t total;

	if (!j->has_last)
		return 0;
	if (scan_at(j, j->last, NULL, &bytes, &total) != FOUND_WHOLE)
		return -1;
	return io_pwrite_all(j->fd, bytes, total, scan_offset(j, j->last));
}

int
journal_recover(struct journal *j, struct err *e)
{
	struct journal_header h;
	uint64_t torn;
	bool is_torn, clear = j->broken || journal_from_other_boot(j);
	int rc = -1;

	j->broken = true;
	if (header_again(j, e))
		return -1;
	j->end = j->header.start;
	j->has_last = false;
	if (walk(j, &torn, &is_torn, e))
		goto out;
	if (!is_torn && scan_refuse_damage(j, j->end, e))
		goto out;
	h = j->header;
	/* Within one boot a torn record has its beginning, since the kernel
	 * copies from there on; after a lost one any sector may be missing, and
	 * after a failed sync the disk may hold what memory does not. */
	if ((is_torn && scan_erase(j, torn)) || (clear && scan_erase_tail(j)) ||
	    rewrite_last(j) || header_write(j->fd, &h) || fdatasync(j->fd)) {
		err_errno(e, &err_unavailable, "cannot recover the journal");
		goto out;
	}
	j->header = h;
	j->broken = false;
	rc = 0;
out:
	scan_buffer_shrink(j);
	return rc;
}

/* Writes and syncs a changed header. When that fails the file may say either;
 * appending stops until recovery has written one of them for good. */
static int
header_change(
    struct journal *j, const struct journal_header *want, struct err *e)
{
	struct journal_header before = j->header;

	if (j->broken)
		return err_set(e, &err_unavailable,
		    "the journal has to be recovered first");
	j->header = *want;
	if (!header_write(j->fd, &j->header) &&
	    (!fdatasync(j->fd) || !sync_again(j, NULL, 0, 0)))
		return 0;
	err_errno(e, &err_unavailable, "cannot write the journal's header");
	j->header = before;
	j->broken = true;
	return -1;
}

int
journal_free(struct journal *j, uint64_t upto, struct err *e)
{
	struct journal_header h = j->header;

	if (upto < h.start || upto > j->end)
		return err_set(e, &err_internal,
		    "no such place in the journal: %llu",
		    (unsigned long long)upto);
	if (upto == h.start)
		return 0;
	if (upto == j->end)
		j->has_last = false;
	h.start = upto;
	return header_change(j, &h, e);
}

bool
journal_from_other_boot(const struct journal *j)
{
	static const uint8_t unknown[JOURNAL_BOOT];

	return memcmp(j->header.boot, j->boot, JOURNAL_BOOT) != 0 ||
	       !memcmp(j->boot, unknown, JOURNAL_BOOT);
}

int
journal_mark_boot(struct journal *j, struct err *e)
{
	struct journal_header h = j->header;

	if (!journal_from_other_boot(j))
		return 0;
	memcpy(h.boot, j->boot, JOURNAL_BOOT);
	return header_change(j, &h, e);
}

int
journal_doubt_boot(struct journal *j, struct err *e)
{
	struct journal_header h = j->header;

	if (journal_from_other_boot(j))
		return 0;
	memset(h.boot, 0, JOURNAL_BOOT);
	return header_change(j, &h, e);
}
