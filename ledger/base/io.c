#include "ledger/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ledger/base/buf.h"
#include "ledger/base/private.h"
#include "ledger/base/uid.h"

#define READ_STEP ((size_t)65536)

/* Reads on to the end of the file, at most one byte beyond max. */
static int
read_rest(int fd, size_t max, struct buf *into)
{
	while (into->n <= max) {
		size_t step = max + 1 - into->n;
		char *at;
		ssize_t got;

		if (step > READ_STEP)
			step = READ_STEP;
		at = buf_grow(into, step);
		got = read(fd, at, step);
		into->n -= step - (got > 0 ? (size_t)got : 0);
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -1;
	}
	return 0;
}

int
io_read_file(struct arena *a, const char *path, size_t max, struct str *out,
    struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
	struct buf bytes;

	if (fd < 0)
		return err_errno(e,
		    errno == ENOENT ? &err_not_found : &err_internal,
		    "cannot open %s", path);
	buf_init(&bytes, max + 1);
	if (read_rest(fd, max, &bytes))
		err_errno(e, &err_internal, "cannot read %s", path);
	else if (bytes.n > max)
		err_set(e, &err_too_large, "%s is longer than %zu bytes", path,
		    max);
	else {
		*out = arena_str(a, buf_str(&bytes));
		rc = 0;
	}
	buf_fini(&bytes);
	close(fd);
	return rc;
}

/* The directory part of a path; false when it is too long. */
static bool
parent_of(const char *path, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (n >= PATH_MAX)
		return false;
	if (!slash)
		return snprintf(out, PATH_MAX, ".") > 0;
	if (n == 0)
		return snprintf(out, PATH_MAX, "/") > 0;
	memcpy(out, path, n);
	out[n] = '\0';
	return true;
}

int
io_fsync_parent(const char *path, struct err *e)
{
	char parent[PATH_MAX];

	if (!parent_of(path, parent))
		return err_set(e, &err_internal, "path is too long");
	return io_fsync_dir(parent, e);
}

/* A synced file beside path, under a name of its own. */
static int
write_temporary(const char *path, struct str bytes, mode_t mode,
    char name[PATH_MAX], struct err *e)
{
	uint64_t random;
	int fd, rc = -1;

	random_bytes(&random, sizeof random);
	if (snprintf(name, PATH_MAX, "%s.tmp-%016llx", path,
		(unsigned long long)random) >= PATH_MAX)
		return err_set(e, &err_internal, "path is too long");
	mode = private_mode(AT_FDCWD, name, mode);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return err_errno(e, &err_internal, "cannot create %s", name);
	if (fchmod(fd, mode) || io_write_all(fd, bytes.p, bytes.n) || fsync(fd))
		err_errno(e, &err_internal, "cannot write %s", name);
	else
		rc = 0;
	if (close(fd) && rc == 0)
		rc = err_errno(e, &err_internal, "cannot write %s", name);
	if (rc)
		unlink(name);
	return rc;
}

int
io_write_file(const char *path, struct str bytes, mode_t mode, struct err *e)
{
	char name[PATH_MAX];

	if (write_temporary(path, bytes, mode, name, e))
		return -1;
	if (rename(name, path)) {
		err_errno(e, &err_internal, "cannot rename to %s", path);
		unlink(name);
		return -1;
	}
	return io_fsync_parent(path, e);
}

int
io_create_file(const char *path, struct str bytes, mode_t mode, struct err *e)
{
	char name[PATH_MAX];
	int rc = 0;

	if (write_temporary(path, bytes, mode, name, e))
		return -1;
	/* Unlike rename, link never replaces. */
	if (link(name, path))
		rc = err_errno(e,
		    errno == EEXIST ? &err_conflict : &err_internal,
		    "cannot create %s", path);
	unlink(name);
	return rc ? rc : io_fsync_parent(path, e);
}

static int
make_dir(const char *path, mode_t mode, struct err *e)
{
	struct stat st;

	if (private_mkdir(AT_FDCWD, path, mode) == 0)
		return io_fsync_parent(path, e);
	if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return err_errno(e, &err_internal, "cannot make directory %s", path);
}

int
io_make_dirs(const char *path, mode_t mode, struct err *e)
{
	char part[PATH_MAX];
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof part)
		return err_set(e, &err_internal, "path is empty or too long");
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		if (path[i - 1] == '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (make_dir(part, mode, e))
			return -1;
	}
	return 0;
}

int
io_fsync_dir(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return err_errno(
		    e, &err_internal, "cannot open directory %s", path);
	if (fsync(fd))
		rc = err_errno(
		    e, &err_internal, "cannot sync directory %s", path);
	close(fd);
	return rc;
}

int
io_pread_all(int fd, void *into, size_t n, off_t at)
{
	char *p = into;

	while (n > 0) {
		ssize_t got = pread(fd, p, n, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0) {
			errno = ENODATA;
			return -1;
		}
		p += got;
		n -= (size_t)got;
		at += got;
	}
	return 0;
}

int
io_pwrite_all(int fd, const void *from, size_t n, off_t at)
{
	const char *p = from;

	while (n > 0) {
		ssize_t put = pwrite(fd, p, n, at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		p += put;
		n -= (size_t)put;
		at += put;
	}
	return 0;
}

int
io_write_all(int fd, const void *from, size_t n)
{
	const char *p = from;

	while (n > 0) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

int
io_free_bytes(const char *path, uint64_t *out, struct err *e)
{
	struct statvfs fs;

	if (statvfs(path, &fs))
		return err_errno(
		    e, &err_internal, "cannot see the free space of %s", path);
	*out = (uint64_t)fs.f_bavail * fs.f_frsize;
	return 0;
}

int
io_refuse_network(const char *path, struct err *e)
{
	/* linux/magic.h lacks some of these on Debian 12. */
	static const struct {
		unsigned long type;
		const char *name;
	} refused[] = { { 0x6969, "NFS" }, { 0x517b, "SMB" },
		{ 0xfe534d42, "SMB2" }, { 0xff534d42, "CIFS" },
		{ 0x5346414f, "AFS" }, { 0x6b414653, "AFS" },
		{ 0x01021997, "9p" }, { 0x00c36400, "Ceph" },
		{ 0x73757245, "Coda" }, { 0x0bd00bd0, "Lustre" } };
	struct statfs fs;

	if (statfs(path, &fs))
		return err_errno(
		    e, &err_internal, "cannot see the filesystem of %s", path);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (refused[i].type == ((unsigned long)fs.f_type & 0xffffffff))
			return err_set(e, &err_unavailable,
			    "%s lies on a network filesystem (%s)", path,
			    refused[i].name);
	return 0;
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

int
io_remove_tree(const char *path)
{
	return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
