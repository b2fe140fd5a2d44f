/*
 * Preloaded into a program, makes one of its calls to the kernel fail, or ends
 * the program there. By environment:
 *
 *	FAULT_CALLS  which calls count, by the names of the table below, with
 *	             commas between; "all"
 *	FAULT_PATH   and only on files whose path contains this
 *	FAULT_AT     which of them is struck, from 1
 *	FAULT_TIMES  how many from there on; 0: all; 1 unless given
 *	FAULT_DO     the errno, as a number; or
 *	             die    SIGKILL in place of the call
 *	             after  SIGKILL when the call is done
 *	             torn   half of a write, then SIGKILL
 *	             short  half of a write, which is what it answers
 *	FAULT_SAME   of calls on one file that follow each other, so many count
 *	FAULT_MARK   a file that is made when the first is struck
 *	FAULT_SHOW   a file to which each counted call is appended
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum deed { DEED_ERRNO, DEED_DIE, DEED_AFTER, DEED_TORN, DEED_SHORT };

static const char *calls, *path_part, *mark, *show;
static long strike_at, strike_times = 1, counted, same_most, same;
static char last[600];
static enum deed deed;
static int deed_errno;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void
begin(void)
{
	const char *at = getenv("FAULT_AT"), *what = getenv("FAULT_DO");
	const char *times = getenv("FAULT_TIMES");

	calls = getenv("FAULT_CALLS");
	same_most =
	    getenv("FAULT_SAME") ? strtol(getenv("FAULT_SAME"), NULL, 10) : 0;
	path_part = getenv("FAULT_PATH");
	mark = getenv("FAULT_MARK");
	show = getenv("FAULT_SHOW");
	strike_at = at ? strtol(at, NULL, 10) : 0;
	strike_times = times ? strtol(times, NULL, 10) : 1;
	if (what == NULL)
		calls = NULL;
	else if (strcmp(what, "die") == 0)
		deed = DEED_DIE;
	else if (strcmp(what, "after") == 0)
		deed = DEED_AFTER;
	else if (strcmp(what, "torn") == 0)
		deed = DEED_TORN;
	else if (strcmp(what, "short") == 0)
		deed = DEED_SHORT;
	else
		deed_errno = (int)strtol(what, NULL, 10);
}

static int
is_counted(const char *call, const char *path)
{
	size_t n = strlen(call);

	if (calls == NULL || path == NULL)
		return 0;
	if (path_part != NULL && strstr(path, path_part) == NULL)
		return 0;
	if (strcmp(calls, "all") == 0)
		return 1;
	for (const char *c = calls; c != NULL; c = strchr(c, ',')) {
		c += *c == ',';
		if (strncmp(c, call, n) == 0 && (c[n] == ',' || c[n] == '\0'))
			return 1;
	}
	return 0;
}

/* By raw system calls: what this library does itself is not counted. */
static void
put_line(const char *file, const char *text)
{
	long fd = syscall(SYS_openat, AT_FDCWD, file,
	    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	syscall(SYS_write, (int)fd, text, strlen(text));
	syscall(SYS_close, (int)fd);
}

static void
end_here(void)
{
	syscall(SYS_kill, getpid(), SIGKILL);
	for (;;)
		pause();
}

/* Its number, or 0 when too many like it came right before. */
static long
number_of(const char *call, const char *path)
{
	char text[600];
	long n = 0;

	snprintf(text, sizeof text, "%s %s", call, path);
	pthread_mutex_lock(&lock);
	same = strcmp(text, last) == 0 ? same + 1 : 1;
	memcpy(last, text, sizeof last);
	if (same_most == 0 || same <= same_most)
		n = ++counted;
	pthread_mutex_unlock(&lock);
	return n;
}

/* Whether this call is struck. */
static int
strike(const char *call, const char *path)
{
	char text[600];
	long n;

	if (!is_counted(call, path))
		return 0;
	n = number_of(call, path);
	if (n == 0 && (strike_times != 0 || counted < strike_at))
		return 0;
	if (show != NULL) {
		snprintf(text, sizeof text, "%ld %s %s\n", n, call, path);
		put_line(show, text);
	}
	if (strike_at == 0 || (n != 0 && n < strike_at) ||
	    (strike_times != 0 && n >= strike_at + strike_times))
		return 0;
	if (mark != NULL && n == strike_at)
		put_line(mark, call);
	if (deed == DEED_DIE)
		end_here();
	errno = deed_errno;
	return 1;
}

static const char *
fd_path(int fd, char out[512])
{
	char name[40];
	ssize_t n;

	if (calls == NULL)
		return NULL;
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	n = readlink(name, out, 511);
	if (n < 0)
		return NULL;
	out[n] = '\0';
	return out;
}

static const char *
path_at(int dir, const char *path, char out[1024])
{
	char base[512];

	if (calls == NULL || dir == AT_FDCWD || path[0] == '/')
		return path;
	if (fd_path(dir, base) == NULL)
		return NULL;
	snprintf(out, 1024, "%s/%s", base, path);
	return out;
}

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

/* The call is struck before or after it was made, or not at all. */
#define AROUND(call, path, do_it)                 \
	do {                                      \
		int struck = strike(call, path);  \
		int rc;                           \
                                                  \
		if (struck && deed == DEED_ERRNO) \
			return -1;                \
		rc = do_it;                       \
		if (struck && deed != DEED_SHORT) \
			end_here();               \
		return rc;                        \
	} while (0)

typedef int on_fd(int);

int
fsync(int fd)
{
	char p[512];

	AROUND("fsync", fd_path(fd, p), REAL(on_fd *, "fsync")(fd));
}

int
fdatasync(int fd)
{
	char p[512];

	AROUND("fdatasync", fd_path(fd, p), REAL(on_fd *, "fdatasync")(fd));
}

int
syncfs(int fd)
{
	char p[512];

	AROUND("syncfs", fd_path(fd, p), REAL(on_fd *, "syncfs")(fd));
}

typedef int on_size(int, off_t);

int
ftruncate(int fd, off_t n)
{
	char p[512];

	AROUND(
	    "ftruncate", fd_path(fd, p), REAL(on_size *, "ftruncate")(fd, n));
}

int
ftruncate64(int fd, off_t n)
{
	return ftruncate(fd, n);
}

/* Writes. */

typedef ssize_t any_write(int, const void *, size_t, off_t);

static ssize_t
write_plain(int fd, const void *p, size_t n, off_t at)
{
	(void)at;
	return syscall(SYS_write, fd, p, n);
}

static ssize_t
write_at(int fd, const void *p, size_t n, off_t at)
{
	return syscall(SYS_pwrite64, fd, p, n, at);
}

static ssize_t
written(
    const char *call, any_write *w, int fd, const void *p, size_t n, off_t at)
{
	char path[512];
	int struck = strike(call, fd_path(fd, path));
	ssize_t rc;

	if (struck && deed == DEED_ERRNO)
		return -1;
	if (struck && deed != DEED_AFTER && n > 1)
		n /= 2;
	rc = w(fd, p, n, at);
	if (struck && deed != DEED_SHORT)
		end_here();
	return rc;
}

ssize_t
write(int fd, const void *p, size_t n)
{
	return written("write", write_plain, fd, p, n, 0);
}

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	return written("pwrite", write_at, fd, p, n, at);
}

ssize_t
pwrite64(int fd, const void *p, size_t n, off_t at)
{
	return written("pwrite", write_at, fd, p, n, at);
}

/* Names. */

typedef int two_paths(const char *, const char *);

int
rename(const char *from, const char *to)
{
	AROUND("rename", to, REAL(two_paths *, "rename")(from, to));
}

int
renameat(int a, const char *from, int b, const char *to)
{
	char p[1024];

	AROUND("rename", path_at(b, to, p),
	    (int)syscall(SYS_renameat2, a, from, b, to, 0));
}

int
renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	char p[1024];

	AROUND("rename", path_at(b, to, p),
	    (int)syscall(SYS_renameat2, a, from, b, to, flags));
}

int
link(const char *from, const char *to)
{
	AROUND("link", to, REAL(two_paths *, "link")(from, to));
}

int
mkdir(const char *path, mode_t mode)
{
	AROUND("mkdir", path, (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int
mkdirat(int dir, const char *path, mode_t mode)
{
	char p[1024];

	AROUND("mkdir", path_at(dir, path, p),
	    (int)syscall(SYS_mkdirat, dir, path, mode));
}

int
unlink(const char *path)
{
	AROUND("unlink", path, (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int
unlinkat(int dir, const char *path, int flags)
{
	char p[1024];

	AROUND("unlink", path_at(dir, path, p),
	    (int)syscall(SYS_unlinkat, dir, path, flags));
}

/* Only opening for writing counts. */
static int
opened(int dir, const char *path, int flags, mode_t mode)
{
	char p[1024];
	const char *counts =
	    (flags & O_ACCMODE) == O_RDONLY ? NULL : path_at(dir, path, p);

	AROUND(
	    "open", counts, (int)syscall(SYS_openat, dir, path, flags, mode));
}

static mode_t
mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

#define OPENS(name)                                         \
	int name(const char *path, int flags, ...)          \
	{                                                   \
		va_list ap;                                 \
		mode_t mode;                                \
                                                            \
		va_start(ap, flags);                        \
		mode = mode_of(flags, ap);                  \
		va_end(ap);                                 \
		return opened(AT_FDCWD, path, flags, mode); \
	}
#define OPENS_AT(name)                                      \
	int name(int dir, const char *path, int flags, ...) \
	{                                                   \
		va_list ap;                                 \
		mode_t mode;                                \
                                                            \
		va_start(ap, flags);                        \
		mode = mode_of(flags, ap);                  \
		va_end(ap);                                 \
		return opened(dir, path, flags, mode);      \
	}

OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

/* What a fortified program calls when no mode is given. */
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

int
__open_2(const char *path, int flags)
{
	return opened(AT_FDCWD, path, flags, 0);
}

int
__open64_2(const char *path, int flags)
{
	return opened(AT_FDCWD, path, flags, 0);
}

int
__openat_2(int dir, const char *path, int flags)
{
	return opened(dir, path, flags, 0);
}

int
__openat64_2(int dir, const char *path, int flags)
{
	return opened(dir, path, flags, 0);
}
