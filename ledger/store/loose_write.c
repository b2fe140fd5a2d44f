#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/private.h"
#include "ledger/store/loose.h"

/*
 * Not compressed: stored blocks (RFC 1950, RFC 1951) are valid for every reader
 * and cost a checksum. Packing compresses.
 */

#define STORED_MAX  65535
#define HEADER_ROOM 32 /* "commit <decimal size>\0" */

static unsigned char *
stored_block(unsigned char *at, size_t n, bool last)
{
	*at++ = last;
	*at++ = (unsigned char)(n & 255);
	*at++ = (unsigned char)(n >> 8);
	*at++ = (unsigned char)(~n & 255);
	*at++ = (unsigned char)((~n >> 8) & 255);
	return at;
}

/* The file's bytes, malloc'ed: the header is a stored block of its own. */
static unsigned char *
frame(const struct object *o, size_t *n)
{
	char header[HEADER_ROOM];
	int words = snprintf(header, sizeof(header), "%s %zu",
	    object_kind_word(o->kind), o->bytes.n);
	size_t header_n = (size_t)words + 1, left = o->bytes.n;
	size_t blocks = 1 + (left + STORED_MAX - 1) / STORED_MAX;
	unsigned char *out = malloc(2 + 5 * blocks + header_n + left + 4);
	const char *from = o->bytes.p;
	unsigned char *at = out;
	uLong sum;

	if (!out)
		abort();
	*at++ = 0x78;
	*at++ = 0x01;
	at = stored_block(at, header_n, !left);
	memcpy(at, header, header_n);
	at += header_n;
	while (left) {
		size_t step = left < STORED_MAX ? left : STORED_MAX;

		at = stored_block(at, step, step == left);
		memcpy(at, from, step);
		at += step;
		from += step;
		left -= step;
	}
	sum = adler32_z(1, (const Bytef *)header, header_n);
	if (o->bytes.n)
		sum = adler32_z(sum, (const Bytef *)o->bytes.p, o->bytes.n);
	for (int shift = 24; shift >= 0; shift -= 8)
		*at++ = (unsigned char)(sum >> shift);
	*n = (size_t)(at - out);
	return out;
}

#define TEMP_NAME 64

/* Stock git removes fan-out directories that it finds empty. */
static int
fan_out_make(struct repo *r, const char *place)
{
	char name[3] = { place[0], place[1], '\0' };

	return private_mkdir(r->objects, name, 0777) && errno != EEXIST ? -1
									: 0;
}

/* Under a name that stock git takes for a forgotten temporary file. */
static int
temp_open(struct repo *r, const char *place, char name[TEMP_NAME])
{
	int fd;

	do {
		snprintf(name, TEMP_NAME, "%.2s/tmp_obj_%016llx_%llx", place,
		    (unsigned long long)r->temp_tag,
		    (unsigned long long)++r->temp_count);
		fd = openat(r->objects, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
		if (fd < 0 && errno == ENOENT && !fan_out_make(r, place))
			errno = EEXIST;
	} while (fd < 0 && (errno == EEXIST || errno == EINTR));
	return fd;
}

/* Puts the file under its name; with sync, only after its bytes are on disk. */
static int
loose_write(struct repo *r, const struct object *o, bool sync, struct err *e)
{
	char place[LOOSE_NAME], temp[TEMP_NAME];
	size_t n;
	unsigned char *bytes = frame(o, &n);
	int fd, bad;

	loose_name(o->oid, place);
	fd = temp_open(r, place, temp);
	if (fd < 0) {
		free(bytes);
		return err_errno(e, &err_unavailable,
		    "cannot write an object below %s", r->path);
	}
	bad = io_write_all(fd, bytes, n) || (sync && fsync(fd));
	free(bytes);
	/* close(2) may change errno, and may fail where write(2) did not. */
	if (bad) {
		err_errno(e, &err_unavailable, "cannot write object %s", place);
		close(fd);
	} else if ((bad = close(fd)) ||
		   (bad = renameat(r->objects, temp, r->objects, place)))
		err_errno(e, &err_unavailable, "cannot write object %s", place);
	if (bad)
		unlinkat(r->objects, temp, 0);
	return bad ? -1 : 0;
}

bool
loose_exists(const struct repo *r, struct oid o)
{
	char place[LOOSE_NAME];

	loose_name(o, place);
	return !faccessat(r->objects, place, F_OK, 0);
}

/*
 * Packs are not asked: a new object is hardly ever in one, and a second copy
 * does no harm; packing removes it again.
 */
int
repo_write(
    struct repo *r, const struct object *objects, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (!loose_exists(r, objects[i].oid) &&
		    loose_write(r, &objects[i], false, e))
			return -1;
	return 0;
}

int
repo_write_anew(struct repo *r, const struct object *o, struct err *e)
{
	return loose_write(r, o, false, e);
}

static int
fan_out_sync(struct repo *r, const char *place)
{
	char name[3] = { place[0], place[1], '\0' };
	int fd = openat(r->objects, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) || fsync(r->objects) ? -1 : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

int
repo_write_synced(struct repo *r, struct object *o, struct err *e)
{
	char place[LOOSE_NAME];

	if (repo_oid(o->kind, o->bytes, &o->oid, e))
		return -1;
	/* Always a new file: of one that is there already nobody knows whether
	 * an earlier sync of it failed. */
	if (loose_write(r, o, true, e))
		return -1;
	loose_name(o->oid, place);
	if (!fan_out_sync(r, place))
		return 0;
	err_errno(e, &err_unavailable, "cannot sync object %s", place);
	unlinkat(r->objects, place, 0);
	return -1;
}

int
repo_unlink_loose(struct repo *r, struct oid o, struct err *e)
{
	char place[LOOSE_NAME];

	loose_name(o, place);
	if (unlinkat(r->objects, place, 0) && errno != ENOENT)
		return err_errno(
		    e, &err_unavailable, "cannot remove object %s", place);
	return 0;
}
