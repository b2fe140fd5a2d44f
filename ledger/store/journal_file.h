/*
 * The journal's bytes. All integers are little-endian.
 *
 * Header, at 0 and again at 4096, so that no torn sector or page hits both:
 *
 *	0  "PRBJRNL1"
 *	8  counter; the copy with the higher one counts
 *	16 ring size
 *	24 start: where records begin that are not freed
 *	32 boot id, 16 bytes
 *	48 key, 32 random bytes made with the file
 *	80 SHA-256 of the above
 *
 * Record, at JOURNAL_HEADER + position % ring size, padded with zeros to a
 * multiple of 512; one that would not fit before the ring's end begins at the
 * ring's beginning:
 *
 *	0   0xff "PRBREC1"; no text of an event contains 0xff
 *	8   position
 *	16  total length
 *	24  first_seq
 *	32  count
 *	40  number of objects, 4 bytes; 1 when there is a parent, 4 bytes
 *	48  parent, commit
 *	88  HMAC-SHA-256 under the key of all but this field
 *	120 objects: kind, 4 bytes; length, 4 bytes; id; bytes
 *
 * The key keeps anybody who chooses what an event says from placing a record
 * inside one.
 */
#ifndef LEDGER_STORE_JOURNAL_FILE_H
#define LEDGER_STORE_JOURNAL_FILE_H

#include "ledger/crypto/hash.h"
#include "ledger/store/journal.h"

#define JOURNAL_COPY_AT  4096
#define JOURNAL_HEADER   8192
#define JOURNAL_COPY     112 /* bytes of one header */
#define JOURNAL_KEY      32
#define JOURNAL_BOOT     16
#define JOURNAL_UNIT     512
#define JOURNAL_RING_MIN (64u << 10)
#define JOURNAL_RING_MAX (1u << 30)

struct journal_header {
	uint64_t counter, ring, start;
	uint8_t boot[JOURNAL_BOOT];
	uint8_t key[JOURNAL_KEY];
};

/* Makes a zero-filled, synced file at path unless another process does. */
int journal_file_create(const char *path, uint64_t ring, struct err *);

void header_encode(const struct journal_header *, uint8_t out[JOURNAL_COPY]);
bool header_decode(const uint8_t in[JOURNAL_COPY], struct journal_header *);

/* Reads both copies and takes the newer; err_corrupt when neither is whole. */
int header_read(int fd, struct journal_header *, struct err *);

/* Raises the counter and writes one copy; no sync. -1 with errno set. */
int header_write(int fd, struct journal_header *);

/* This boot of the machine; zeros when the kernel does not tell. */
void boot_id(uint8_t out[JOURNAL_BOOT]);

/* Padded length, 0 when the record is longer than JOURNAL_RECORD_MAX. */
size_t record_size(const struct record *);
void record_encode(const struct record *, uint64_t position,
    const uint8_t key[JOURNAL_KEY], uint8_t *out, size_t total);

#define RECORD_HEAD 120
/* Whether the bytes begin a record of this position. */
bool record_begins(const uint8_t head[RECORD_HEAD], uint64_t position);
/* The length it claims. */
uint64_t record_claims(const uint8_t head[RECORD_HEAD]);
bool record_whole(
    const uint8_t *, size_t total, const uint8_t key[JOURNAL_KEY]);
/* Points into the bytes, which live on. False when they make no record. */
bool record_decode(
    struct arena *, const uint8_t *, size_t total, struct record *);

#endif
