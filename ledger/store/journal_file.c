#include "ledger/store/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/private.h"
#include "ledger/base/uid.h"
#include "ledger/store/bytes.h"

#define MAGIC     "PRBJRNL1"
#define MAGIC_N   8
#define DIGEST_AT 80
#define ZEROS     ((size_t)1 << 20)
#define BOOT_FILE "/proc/sys/kernel/random/boot_id"

void
boot_id(uint8_t out[JOURNAL_BOOT])
{
	char text[UID_TEXT];
	struct uid id = { { 0 } };
	int fd = open(BOOT_FILE, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, text, sizeof(text)) == UID_TEXT)
		uid_parse((struct str){ text, UID_TEXT }, &id);
	if (fd >= 0)
		close(fd);
	memcpy(out, id.b, JOURNAL_BOOT);
}

void
header_encode(const struct journal_header *h, uint8_t out[JOURNAL_COPY])
{
	struct digest d;

	memcpy(out, MAGIC, MAGIC_N);
	put_u64(out + 8, h->counter);
	put_u64(out + 16, h->ring);
	put_u64(out + 24, h->start);
	memcpy(out + 32, h->boot, JOURNAL_BOOT);
	memcpy(out + 48, h->key, JOURNAL_KEY);
	d = sha256((struct str){ (const char *)out, DIGEST_AT });
	memcpy(out + DIGEST_AT, d.b, DIGEST_BYTES);
}

bool
header_decode(const uint8_t in[JOURNAL_COPY], struct journal_header *h)
{
	struct digest d;

	if (memcmp(in, MAGIC, MAGIC_N))
		return false;
	d = sha256((struct str){ (const char *)in, DIGEST_AT });
	if (memcmp(in + DIGEST_AT, d.b, DIGEST_BYTES))
		return false;
	h->counter = get_u64(in + 8);
	h->ring = get_u64(in + 16);
	h->start = get_u64(in + 24);
	memcpy(h->boot, in + 32, JOURNAL_BOOT);
	memcpy(h->key, in + 48, JOURNAL_KEY);
	return h->ring >= JOURNAL_RING_MIN && h->ring <= JOURNAL_RING_MAX &&
	       h->ring % JOURNAL_UNIT == 0 && h->start % JOURNAL_UNIT == 0 &&
	       h->start <= INT64_MAX;
}

int
header_read(int fd, struct journal_header *h, struct err *e)
{
	uint8_t bytes[JOURNAL_COPY_AT + JOURNAL_COPY];
	struct journal_header one, two;
	bool first, second;

	if (io_pread_all(fd, bytes, sizeof(bytes), 0))
		return err_errno(
		    e, &err_corrupt, "cannot read the journal's header");
	first = header_decode(bytes, &one);
	second = header_decode(bytes + JOURNAL_COPY_AT, &two);
	if (!first && !second)
		return err_set(e, &err_corrupt,
		    "neither copy of the journal's header is whole");
	*h = first && (!second || one.counter > two.counter) ? one : two;
	return 0;
}

int
header_write(int fd, struct journal_header *h)
{
	uint8_t bytes[JOURNAL_COPY];

	h->counter++;
	header_encode(h, bytes);
	return io_pwrite_all(
	    fd, bytes, sizeof(bytes), h->counter % 2 ? JOURNAL_COPY_AT : 0);
}

/* Blocks that were only reserved would make each later sync write metadata. */
static int
fill(int fd, uint64_t ring)
{
	struct journal_header h = { .ring = ring };
	char *zeros = calloc(1, ZEROS);
	uint64_t at = 0, all = JOURNAL_HEADER + ring;
	int rc = 0;

	if (!zeros)
		abort();
	while (!rc && at < all) {
		size_t n = all - at < ZEROS ? (size_t)(all - at) : ZEROS;

		rc = io_pwrite_all(fd, zeros, n, (off_t)at);
		at += n;
	}
	free(zeros);
	boot_id(h.boot);
	random_bytes(h.key, sizeof(h.key));
	return rc || header_write(fd, &h) || header_write(fd, &h) || fsync(fd)
		   ? -1
		   : 0;
}

int
journal_file_create(const char *path, uint64_t ring, struct err *e)
{
	uint64_t tag;
	char *temp;
	int fd, rc = -1;

	random_bytes(&tag, sizeof(tag));
	if (asprintf(&temp, "%s.new-%016llx", path, (unsigned long long)tag) <
	    0)
		abort();
	fd = private_open(
	    AT_FDCWD, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fill(fd, ring))
		err_errno(e, &err_unavailable, "cannot make %s", path);
	/* A link, unlike a rename, leaves alone what another process made. */
	else if (link(temp, path) && errno != EEXIST)
		err_errno(e, &err_unavailable, "cannot make %s", path);
	else
		rc = io_fsync_parent(path, e);
	if (fd >= 0) {
		close(fd);
		unlink(temp);
	}
	free(temp);
	return rc;
}
