#include "ledger/store/journal_scan.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/base/io.h"

#define CHUNK       ((size_t)1 << 20)
#define BUFFER_KEPT ((size_t)1 << 20)

uint8_t *
scan_buffer(struct journal *j, size_t n)
{
	if (j->room < n) {
		free(j->buffer);
		j->buffer = malloc(n);
		if (!j->buffer)
			abort();
		j->room = n;
	}
	return j->buffer;
}

void
scan_buffer_shrink(struct journal *j)
{
	if (j->room > BUFFER_KEPT) {
		free(j->buffer);
		j->buffer = NULL;
		j->room = 0;
	}
}

off_t
scan_offset(const struct journal *j, uint64_t position)
{
	return (off_t)(JOURNAL_HEADER + position % j->header.ring);
}

uint64_t
scan_lap_rest(const struct journal *j, uint64_t position)
{
	return j->header.ring - position % j->header.ring;
}

enum found
scan_at(struct journal *j, uint64_t at, struct arena *a, uint8_t **bytes,
    size_t *total)
{
	uint8_t head[RECORD_HEAD];
	uint64_t n, most = j->header.start + j->header.ring - at;

	if (at >= j->header.start + j->header.ring)
		return FOUND_NONE;
	if (io_pread_all(j->fd, head, sizeof(head), scan_offset(j, at)))
		return FOUND_FAILED;
	if (!record_begins(head, at))
		return FOUND_NONE;
	n = record_claims(head);
	if (n < JOURNAL_UNIT || n % JOURNAL_UNIT || n > JOURNAL_RECORD_MAX ||
	    n > scan_lap_rest(j, at) || n > most)
		return FOUND_TORN;
	*total = (size_t)n;
	*bytes = a ? arena_alloc(a, *total) : scan_buffer(j, *total);
	if (io_pread_all(j->fd, *bytes, *total, scan_offset(j, at)))
		return FOUND_FAILED;
	/* The head once more: what was checked is what was read last. */
	if (!record_begins(*bytes, at) || record_claims(*bytes) != n ||
	    !record_whole(*bytes, *total, j->header.key))
		return FOUND_TORN;
	return FOUND_WHOLE;
}

enum found
scan_from(struct journal *j, uint64_t *at, struct arena *a, uint8_t **bytes,
    size_t *total)
{
	enum found found = scan_at(j, *at, a, bytes, total);
	uint64_t rest = scan_lap_rest(j, *at);

	if (found != FOUND_NONE || rest >= JOURNAL_RECORD_MAX)
		return found;
	found = scan_at(j, *at + rest, a, bytes, total);
	if (found != FOUND_NONE)
		*at += rest;
	return found;
}

int
scan_refuse_damage(struct journal *j, uint64_t from, struct err *e)
{
	uint64_t stop = j->header.start + j->header.ring;
	uint8_t *chunk = malloc(CHUNK), *bytes;
	size_t total;
	int rc = 0;

	if (!chunk)
		abort();
	while (!rc && from < stop) {
		uint64_t n = CHUNK;

		n = n < stop - from ? n : stop - from;
		n = n < scan_lap_rest(j, from) ? n : scan_lap_rest(j, from);
		if (io_pread_all(
			j->fd, chunk, (size_t)n, scan_offset(j, from))) {
			rc = err_errno(
			    e, &err_unavailable, "cannot read the journal");
			break;
		}
		for (uint64_t i = 0; !rc && i < n; i += JOURNAL_UNIT)
			if (record_begins(chunk + i, from + i) &&
			    scan_at(j, from + i, NULL, &bytes, &total) ==
				FOUND_WHOLE)
				rc = err_set(e, &err_corrupt,
				    "a record in the journal is damaged; the "
				    "one at %llu after it is whole",
				    (unsigned long long)(from + i));
		from += n;
	}
	free(chunk);
	return rc;
}

int
scan_erase(struct journal *j, uint64_t at)
{
	static const uint8_t zeros[65536];
	uint64_t stop = j->header.start + j->header.ring;
	uint64_t left = JOURNAL_RECORD_MAX;

	left = left < stop - at ? left : stop - at;
	left = left < scan_lap_rest(j, at) ? left : scan_lap_rest(j, at);
	/* Zeros are written over zeros too: those may be in memory alone. */
	while (left) {
		size_t n = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);

		if (io_pwrite_all(j->fd, zeros, n, scan_offset(j, at)))
			return -1;
		at += n;
		left -= n;
	}
	return 0;
}

int
scan_erase_tail(struct journal *j)
{
	uint64_t rest = scan_lap_rest(j, j->end);
	uint64_t free_bytes = j->header.start + j->header.ring - j->end;

	if (free_bytes && scan_erase(j, j->end))
		return -1;
	if (rest < JOURNAL_RECORD_MAX && rest < free_bytes)
		return scan_erase(j, j->end + rest);
	return 0;
}
