/*
 * Walking over the ring, and clearing it.
 */
#ifndef LEDGER_STORE_JOURNAL_SCAN_H
#define LEDGER_STORE_JOURNAL_SCAN_H

#include <sys/types.h>

#include "ledger/store/journal_file.h"

struct journal {
	int fd;
	struct journal_header header; /* as last read or written */
	uint8_t boot[JOURNAL_BOOT];   /* of now */
	uint64_t end;
	uint64_t last; /* the last record that was walked over or appended */
	bool has_last;
	bool broken; /* the outcome of an append or a sync is not known */
	uint8_t *buffer;
	size_t room;
};

enum found { FOUND_NONE, FOUND_WHOLE, FOUND_TORN, FOUND_FAILED };

/* At least n bytes that live until the next call. */
uint8_t *scan_buffer(struct journal *, size_t n);
/* A large batch is rare: its memory is not kept. */
void scan_buffer_shrink(struct journal *);

/* Where a position lies in the file. */
off_t scan_offset(const struct journal *, uint64_t position);
/* Bytes from the position to the ring's end. */
uint64_t scan_lap_rest(const struct journal *, uint64_t position);

/* What is at exactly this position; a whole record's bytes go into *bytes, in
 * the arena or else in the buffer. */
enum found scan_at(struct journal *, uint64_t at, struct arena *,
    uint8_t **bytes, size_t *total);

/* What follows the position: there, or at the beginning of the next lap when
 * something may have been too long for the rest of this one. Moves *at. */
enum found scan_from(struct journal *, uint64_t *at, struct arena *,
    uint8_t **bytes, size_t *total);

/*
 * err_corrupt when there is a whole record at from or beyond. It proves that
 * what stood before had been synced: only then is the next one appended. So a
 * bad place before it was damaged, not torn, and must not be cleared.
 */
int scan_refuse_damage(struct journal *, uint64_t from, struct err *);

/* Zeros over whatever a record at the position could have covered, in free
 * space. -1 with errno set. */
int scan_erase(struct journal *, uint64_t at);

/*
 * Both places where a record after the end could have begun. Used when the
 * disk may have kept any part of one, its first sector or not.
 */
int scan_erase_tail(struct journal *);

#endif
