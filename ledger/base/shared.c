#include "ledger/base/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/private.h"

#define PATH_BYTES 4096

/* 1: it is what the name says, 0: it is not, or there is none. */
static int
is_ours(int fd, size_t bytes, const char *name)
{
	char found[SHARED_NAME_MAX] = "", wanted[SHARED_NAME_MAX] = "";
	struct stat st;

	snprintf(wanted, sizeof wanted, "%s", name);
	return fstat(fd, &st) == 0 &&
	       st.st_size == (off_t)(SHARED_NAME_MAX + bytes) &&
	       pread(fd, found, sizeof found, 0) == (ssize_t)sizeof found &&
	       memcmp(found, wanted, sizeof found) == 0;
}

/* Under a lock of its own, so that two programs that start together make one.
 * The file appears with its name in it. */
static int
make(const char *path, const char *fresh, size_t bytes, const char *name,
    struct err *e)
{
	char head[SHARED_NAME_MAX] = "";
	int fd =
	    private_open(AT_FDCWD, fresh, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int old, rc = 0;

	if (fd < 0 || flock(fd, LOCK_EX)) {
		rc = err_errno(e, &err_unavailable, "%s", fresh);
		goto out;
	}
	old = open(path, O_RDWR | O_CLOEXEC);
	if (old >= 0 && is_ours(old, bytes, name)) {
		close(old);
		goto out; /* another was faster */
	}
	if (old >= 0)
		close(old);
	snprintf(head, sizeof head, "%s", name);
	/* All of its room at once: a page that the disk has none for would end
	 * the process that touches it. */
	if (ftruncate(fd, 0) ||
	    (errno = posix_fallocate(
		 fd, 0, (off_t)(SHARED_NAME_MAX + bytes))) != 0 ||
	    pwrite(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
	    rename(fresh, path))
		rc = err_errno(e, &err_unavailable, "%s", path);
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

static int
open_ours(const char *path, size_t bytes, const char *name)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || is_ours(fd, bytes, name))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

int
shared_open(const char *path, size_t bytes, const char *name,
    struct shared *out, struct err *e)
{
	char fresh[PATH_BYTES];
	int fd = open_ours(path, bytes, name);
	char *p;

	if (fd < 0 && errno == ENOENT) {
		if (snprintf(fresh, sizeof fresh, "%s.new", path) >=
		    (int)sizeof fresh)
			return err_set(
			    e, &err_invalid, "%s is too long a path", path);
		if (make(path, fresh, bytes, name, e))
			return -1;
		fd = open_ours(path, bytes, name);
	}
	if (fd < 0)
		return err_errno(e, &err_unavailable, "%s", path);
	p = mmap(NULL, SHARED_NAME_MAX + bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return err_errno(e, &err_unavailable, "%s", path);
	*out = (struct shared){ p + SHARED_NAME_MAX, bytes };
	return 0;
}

void
shared_close(struct shared *s)
{
	if (s->p)
		munmap(
		    (char *)s->p - SHARED_NAME_MAX, SHARED_NAME_MAX + s->bytes);
	*s = (struct shared){ 0 };
}
