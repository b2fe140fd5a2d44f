/*
 * A journal file of any bytes: opening, walking, reading and recovering never
 * crash, and no record is taken that was not written with the file's key. The
 * first byte chooses: the whole file, the ring below a good header, or the
 * inside of a record whose position and code are made good.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/store/bytes.h"
#include "ledger/store/journal_file.h"

#define FILE_BYTES (JOURNAL_HEADER + JOURNAL_RING_MIN)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const uint8_t key[JOURNAL_KEY] = "a key the input cannot know";

static void
header_put(uint8_t *file)
{
	struct journal_header h = { .counter = 1, .ring = JOURNAL_RING_MIN };

	memcpy(h.key, key, sizeof(h.key));
	header_encode(&h, file);
	header_encode(&h, file + JOURNAL_COPY_AT);
}

/* A record of the input: its position, length and code are made good. */
static void
record_put(uint8_t *ring, const uint8_t *data, size_t n)
{
	size_t total = (n + RECORD_HEAD + JOURNAL_UNIT) / JOURNAL_UNIT;
	char *p = (char *)ring;
	struct str parts[2];
	struct digest mac;

	total *= JOURNAL_UNIT;
	memcpy(ring + 24, data, n);
	memcpy(ring, "\xffPRBREC1", 8);
	put_u64(ring + 8, 0);
	put_u64(ring + 16, total);
	parts[0] = (struct str){ p, 88 };
	parts[1] = (struct str){ p + RECORD_HEAD, total - RECORD_HEAD };
	mac = hmac_sha256(
	    (struct str){ (const char *)key, sizeof(key) }, parts, 2);
	memcpy(ring + 88, mac.b, sizeof(mac.b));
}

/* Every byte that a record names is there to be read. */
static unsigned
touch(const struct record *r)
{
	unsigned sum = 0;

	for (size_t i = 0; i < r->n_objects; i++)
		for (size_t k = 0; k < r->objects[i].bytes.n; k++)
			sum += (unsigned char)r->objects[i].bytes.p[k];
	return sum;
}

static unsigned
walk_file(const char *path, unsigned *sum)
{
	struct arena *a = arena_new();
	struct journal *j;
	struct record r;
	unsigned records = 0;
	uint64_t at;

	if (!journal_open(path, &j, NULL)) {
		if (!journal_refresh(j, NULL) && !journal_recover(j, NULL)) {
			at = journal_start(j);
			while (journal_read(j, &at, a, &r, NULL) == 1) {
				*sum += touch(&r);
				records++;
			}
		}
		journal_close(j);
	}
	arena_free(a);
	return records;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static uint8_t file[FILE_BYTES];
	static char path[64];
	static int fd = -1;
	unsigned sum = 0, records;
	unsigned char mode;

	if (n < 1 || n > JOURNAL_RING_MIN / 2)
		return 0;
	mode = data[0] % 3;
	data++;
	n--;
	if (fd < 0) {
		snprintf(
		    path, sizeof(path), "/dev/shm/fuzz-journal-%d", getpid());
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	}
	memset(file, 0, sizeof(file));
	header_put(file);
	if (mode == 0)
		memcpy(file, data, n);
	else if (mode == 1)
		memcpy(file + JOURNAL_HEADER, data, n);
	else
		record_put(file + JOURNAL_HEADER, data, n);
	if (pwrite(fd, file, sizeof(file), 0) != (ssize_t)sizeof(file))
		abort();
	records = walk_file(path, &sum);
	if (mode != 2 && records)
		abort();
	return sum == ~0u ? -1 : 0;
}
