/*
 * A pack and its index (gitformat-pack(5), index version 2), byte for byte.
 * libgit2 is not asked: it maps both, checks neither sum, and keeps what it
 * has seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "ledger/base/io.h"
#include "ledger/crypto/sha1_stream.h"
#include "ledger/store/inspect.h"
#include "ledger/store/repo_git.h"

#define PIECE       ((size_t)1 << 20)
#define INDEX_MAX   ((uint64_t)1 << 30)
#define INDEX_HEAD  8
#define FANOUT_AT   INDEX_HEAD
#define IDS_AT      (FANOUT_AT + 256 * 4)
#define PACK_HEAD   12
#define LARGE       UINT32_C(0x80000000)
#define FIXED_BYTES (IDS_AT + 2 * SHA1_BYTES)
#define ROW_BYTES   (OID_BYTES + 4 + 4)

/* An object's bytes in the pack. */
struct entry {
	uint64_t from;
	uint32_t crc;
};

struct look {
	struct repo *repo;
	const struct meter *meter;
	struct pack_inspection *out;
	uint8_t *index;
	size_t index_n;
	uint32_t count;
	struct entry *entries; /* by place */
	uint64_t pack_n;

	/* While going over the pack. */
	struct sha1_stream *sum;
	uint64_t at;
	size_t entry;
	uint32_t crc;
	uint64_t bad;
};

static uint32_t
big_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* 1 to go no further. */
static int
tell(const struct look *l, uint64_t bytes)
{
	l->out->bytes += bytes;
	if (l->meter && l->meter->call && l->meter->call(l->meter->arg, bytes))
		l->out->stopped = true;
	return l->out->stopped;
}

/* Notes the damage. Returns 1. */
static int
damaged(struct look *l, const char *what)
{
	l->out->damaged = true;
	snprintf(l->out->what, sizeof(l->out->what), "%s", what);
	return 1;
}

/* *fd -1 when the file is gone. What the disk has is read, where possible. */
static int
open_file(struct look *l, const char *name, const char *suffix, int *fd,
    uint64_t *n, struct err *e)
{
	char file[sizeof("pack/") + INSPECT_PACK_NAME + 8];
	struct stat st;

	snprintf(file, sizeof(file), "pack/%s%s", name, suffix);
	*fd = openat(l->repo->objects, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (*fd < 0 && errno == ENOENT) {
		l->out->absent = true;
		return 0;
	}
	if (*fd < 0 || fstat(*fd, &st)) {
		if (*fd >= 0)
			close(*fd);
		return err_errno(e, &err_unavailable, "cannot open %s", file);
	}
	*n = (uint64_t)st.st_size;
	posix_fadvise(*fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

static bool
sum_is_good(const uint8_t *p, size_t n)
{
	struct str all = { (const char *)p, n - SHA1_BYTES };
	uint8_t sum[SHA1_BYTES];

	sha1_parts(&all, 1, sum);
	return memcmp(sum, p + n - SHA1_BYTES, SHA1_BYTES) == 0;
}

/* 0, 1 when it is damaged, -1. */
static int
read_index(struct look *l, const char *name, struct err *e)
{
	uint64_t n = 0;
	int fd, rc = 1;

	if (open_file(l, name, ".idx", &fd, &n, e))
		return -1;
	if (fd < 0)
		return 1;
	if (n < FIXED_BYTES || n > INDEX_MAX) {
		damaged(l, "the index has another length than it says");
		goto out;
	}
	l->index_n = (size_t)n;
	l->index = malloc(l->index_n);
	if (!l->index)
		abort();
	if (io_pread_all(fd, l->index, l->index_n, 0))
		damaged(l, "the index cannot be read from the disk");
	else
		rc = 0;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (tell(l, n))
		rc = 1;
out:
	close(fd);
	return rc;
}

/* Its sum, and that its ids rise and agree with the first table. */
static int
check_index(struct look *l)
{
	const uint8_t *p = l->index, *ids = p + IDS_AT;
	uint32_t before = 0;

	if (!sum_is_good(p, l->index_n))
		return damaged(l, "the index's checksum is wrong");
	if (memcmp(p, "\377tOc\0\0\0\2", INDEX_HEAD) != 0)
		return damaged(l, "the index is of an unknown version");
	for (size_t i = 0; i < 256; i++) {
		uint32_t upto = big_u32(p + FANOUT_AT + 4 * i);

		if (upto < before)
			return damaged(l, "the index contradicts itself");
		before = upto;
	}
	l->count = before;
	if ((l->index_n - FIXED_BYTES) / ROW_BYTES < l->count ||
	    (l->index_n - FIXED_BYTES - (size_t)l->count * ROW_BYTES) % 8)
		return damaged(l, "the index has another length than it says");
	for (uint32_t i = 1; i < l->count; i++)
		if (memcmp(ids + (i - 1) * (size_t)OID_BYTES,
			ids + i * (size_t)OID_BYTES, OID_BYTES) >= 0)
			return damaged(l, "the index contradicts itself");
	return 0;
}

/* Where the row's object begins; 0 is no place of one. */
static uint64_t
place_of(const struct look *l, uint32_t row)
{
	size_t ids = IDS_AT + (size_t)l->count * (OID_BYTES + 4);
	size_t large = ids + (size_t)l->count * 4;
	uint32_t small = big_u32(l->index + ids + (size_t)row * 4);
	const uint8_t *p;

	if (!(small & LARGE))
		return small;
	large += (size_t)(small & ~LARGE) * 8;
	if (large + 8 > l->index_n - 2 * SHA1_BYTES)
		return 0;
	p = l->index + large;
	return (uint64_t)big_u32(p) << 32 | big_u32(p + 4);
}

static int
compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	return (a->from > b->from) - (a->from < b->from);
}

/* The entries in the pack's order, which have to fill it without a gap. */
static int
list_entries(struct look *l)
{
	const uint8_t *crcs = l->index + IDS_AT + (size_t)l->count * OID_BYTES;
	uint64_t end = l->pack_n - SHA1_BYTES;

	l->entries = calloc((size_t)l->count + 1, sizeof(*l->entries));
	if (!l->entries)
		abort();
	for (uint32_t i = 0; i < l->count; i++)
		l->entries[i] = (struct entry){ place_of(l, i),
			big_u32(crcs + (size_t)i * 4) };
	qsort(l->entries, l->count, sizeof(*l->entries), compare_entries);
	l->entries[l->count].from = end;
	if (l->entries[0].from != PACK_HEAD)
		return damaged(l, "the index does not fit the pack");
	for (uint32_t i = 0; i < l->count; i++)
		if (l->entries[i].from >= l->entries[i + 1].from)
			return damaged(l, "the index does not fit the pack");
	return 0;
}

/* The next bytes of the pack, its head and its sum apart. */
static void
take_bytes(struct look *l, const uint8_t *p, size_t n)
{
	sha1_stream_add(l->sum, (struct str){ (const char *)p, n });
	while (n > 0) {
		uint64_t end = l->at < PACK_HEAD
				   ? PACK_HEAD
				   : l->entries[l->entry + 1].from;
		size_t step = end - l->at < n ? (size_t)(end - l->at) : n;

		if (l->at >= PACK_HEAD)
			l->crc = (uint32_t)crc32(l->crc, p, (uInt)step);
		l->at += step;
		p += step;
		n -= step;
		if (l->at < end || end == PACK_HEAD)
			continue;
		l->bad += l->crc != l->entries[l->entry].crc;
		l->entry++;
		l->crc = 0;
	}
}

static bool
head_is_good(const struct look *l, const uint8_t head[PACK_HEAD])
{
	return memcmp(head, "PACK\0\0\0\2", 8) == 0 &&
	       big_u32(head + 8) == l->count;
}

static int
judge(struct look *l, const uint8_t *last)
{
	const uint8_t *kept = l->index + l->index_n - 2 * SHA1_BYTES;
	uint8_t sum[SHA1_BYTES];

	sha1_stream_end(l->sum, sum);
	l->sum = NULL;
	if (l->bad > 0) {
		snprintf(l->out->what, sizeof(l->out->what),
		    "%llu of its %lu objects have other bytes than the index"
		    " says",
		    (unsigned long long)l->bad, (unsigned long)l->count);
		l->out->damaged = true;
		return 1;
	}
	if (memcmp(sum, last, SHA1_BYTES) != 0 ||
	    memcmp(sum, kept, SHA1_BYTES) != 0)
		return damaged(l, "its checksum is wrong");
	return 0;
}

static int
walk_pack(struct look *l, int fd)
{
	uint64_t end = l->pack_n - SHA1_BYTES;
	uint8_t *piece = malloc(PIECE), last[SHA1_BYTES];
	int rc = 0;

	if (!piece)
		abort();
	l->sum = sha1_stream_new();
	while (rc == 0 && l->at < end) {
		uint64_t from = l->at;
		size_t n = end - from < PIECE ? (size_t)(end - from) : PIECE;

		if (io_pread_all(fd, piece, n, (off_t)from))
			rc = damaged(l, "it cannot be read from the disk");
		else if (from == 0 && !head_is_good(l, piece))
			rc = damaged(l, "its beginning is not a pack's");
		else
			take_bytes(l, piece, n);
		posix_fadvise(fd, (off_t)from, (off_t)n, POSIX_FADV_DONTNEED);
		if (tell(l, n) && rc == 0)
			rc = 1;
	}
	free(piece);
	if (rc == 0 && io_pread_all(fd, last, sizeof(last), (off_t)end))
		rc = damaged(l, "it cannot be read from the disk");
	return rc ? rc : judge(l, last);
}

static int
check_pack(struct look *l, const char *name, struct err *e)
{
	int fd, rc;

	if (open_file(l, name, ".pack", &fd, &l->pack_n, e))
		return -1;
	if (fd < 0)
		return 1;
	if (l->count == 0 || l->pack_n < PACK_HEAD + SHA1_BYTES + l->count)
		rc = damaged(l, "it is shorter than its index says");
	else if ((rc = list_entries(l)) == 0)
		rc = walk_pack(l, fd);
	close(fd);
	return rc;
}

int
inspect_pack(struct repo *r, const char *name, const struct meter *m,
    struct pack_inspection *out, struct err *e)
{
	struct look l = { .repo = r, .meter = m, .out = out };
	int rc;

	*out = (struct pack_inspection){ 0 };
	rc = read_index(&l, name, e);
	if (rc == 0)
		rc = check_index(&l);
	if (rc == 0)
		rc = check_pack(&l, name, e);
	out->objects = l.count;
	if (l.sum) {
		uint8_t unused[SHA1_BYTES];

		sha1_stream_end(l.sum, unused);
	}
	free(l.entries);
	free(l.index);
	return rc < 0 ? -1 : 0;
}
