#include "domain/lineage/sink.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/private.h"

#define PIECE_BYTES 65536
/* How often the free space is looked at. */
#define LOOK_EVERY ((uint64_t)16 << 20)

static int
add_to_memory(struct sink *sink, struct str bytes, struct err *e)
{
	struct memory_sink *s = (struct memory_sink *)(void *)sink;

	buf_add(&s->buf, bytes);
	if (buf_failed(&s->buf))
		return err_set(e, &err_too_large,
		    "the manifest has over %zu bytes", s->buf.max);
	return 0;
}

void
memory_sink_init(struct memory_sink *s, size_t max)
{
	s->sink.add = add_to_memory;
	buf_init(&s->buf, max);
}

void
memory_sink_fini(struct memory_sink *s)
{
	buf_fini(&s->buf);
}

struct file_sink {
	struct sink sink;
	char *path;
	int fd;
	bool published;
	uint64_t free_floor;
	uint64_t bytes, look_at;
	struct sha256_stream *hash;
	size_t n;
	char piece[PIECE_BYTES];
};

static int
check_space(struct file_sink *s, struct err *e)
{
	uint64_t free_bytes;

	if (s->bytes < s->look_at)
		return 0;
	s->look_at = s->bytes + LOOK_EVERY;
	if (io_free_bytes(s->path, &free_bytes, e))
		return -1;
	if (free_bytes < s->free_floor + LOOK_EVERY)
		return err_set(e, &err_no_space,
		    "%llu bytes are free, too few to write a lineage export",
		    (unsigned long long)free_bytes);
	return 0;
}

static int
write_piece(struct file_sink *s, struct err *e)
{
	if (check_space(s, e))
		return -1;
	if (io_write_all(s->fd, s->piece, s->n))
		return err_errno(e, &err_unavailable, "write %s", s->path);
	sha256_stream_add(s->hash, (struct str){ s->piece, s->n });
	s->bytes += s->n;
	s->n = 0;
	return 0;
}

static int
add_to_file(struct sink *sink, struct str bytes, struct err *e)
{
	struct file_sink *s = (struct file_sink *)(void *)sink;

	while (bytes.n > 0) {
		size_t n = PIECE_BYTES - s->n;

		if (n > bytes.n)
			n = bytes.n;
		memcpy(s->piece + s->n, bytes.p, n);
		s->n += n;
		bytes = str_slice(bytes, n, bytes.n);
		if (s->n == PIECE_BYTES && write_piece(s, e))
			return -1;
	}
	return 0;
}

/* Whether the name is still this file's: who held it before may have moved it
 * to where it is read. */
static bool
is_still(int fd, const char *path)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
	       opened.st_ino == named.st_ino;
}

/* For one writer, however many processes try. */
static int
open_alone(const char *path, struct err *e)
{
	int fd =
	    private_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(e, &err_unavailable, "cannot write %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) || !is_still(fd, path))
		err_set(
		    e, &err_conflict, "another worker is making this export");
	else if (ftruncate(fd, 0))
		err_errno(e, &err_unavailable, "cannot write %s", path);
	else
		return fd;
	close(fd);
	return -1;
}

int
file_sink_open(const char *path, uint64_t free_floor, struct file_sink **out,
    struct err *e)
{
	struct file_sink *s;
	int fd = open_alone(path, e);

	if (fd < 0)
		return -1;
	s = calloc(1, sizeof *s);
	if (!s)
		abort();
	s->sink.add = add_to_file;
	s->path = strdup(path);
	s->fd = fd;
	s->free_floor = free_floor;
	s->hash = sha256_stream_new();
	*out = s;
	return 0;
}

struct sink *
file_sink_of(struct file_sink *s)
{
	return &s->sink;
}

static int
publish(struct file_sink *s, const char *path, struct err *e)
{
	if (s->n > 0 && write_piece(s, e))
		return -1;
	if (fsync(s->fd))
		return err_errno(e, &err_unavailable, "sync %s", s->path);
	if (rename(s->path, path))
		return err_errno(e, &err_unavailable, "rename %s", s->path);
	s->published = true;
	return io_fsync_parent(path, e);
}

int
file_sink_end(struct file_sink *s, const char *path, struct digest *digest,
    uint64_t *bytes, struct err *e)
{
	int rc = publish(s, path, e);

	*digest = sha256_stream_end(s->hash);
	*bytes = s->bytes;
	s->hash = NULL;
	file_sink_drop(s);
	return rc;
}

void
file_sink_drop(struct file_sink *s)
{
	if (s->hash)
		(void)sha256_stream_end(s->hash);
	if (!s->published)
		unlink(s->path);
	close(s->fd);
	free(s->path);
	free(s);
}
