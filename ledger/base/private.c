#include "ledger/base/private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOR_GROUP 0070
#define NOT_OWNER 0077

/* Of the directory that holds path; 0 when it cannot be looked at. */
static mode_t
parent_mode(int dir, const char *path)
{
	const char *end = strrchr(path, '/');
	char parent[PATH_MAX] = ".";
	struct stat st;
	size_t n;

	if (end) {
		n = end == path ? 1 : (size_t)(end - path);
		if (n >= sizeof parent)
			return 0;
		memcpy(parent, path, n);
		parent[n] = '\0';
	}
	return fstatat(dir, parent, &st, 0) ? 0 : st.st_mode;
}

static mode_t
widened(mode_t parent, mode_t mode)
{
	return (parent & NOT_OWNER) == FOR_GROUP ? mode | (mode & 0700) >> 3
						 : mode;
}

bool
private_is_shared(int dir, const char *path)
{
	return (parent_mode(dir, path) & NOT_OWNER) == FOR_GROUP;
}

mode_t
private_mode(int dir, const char *path, mode_t mode)
{
	return widened(parent_mode(dir, path), mode);
}

/* The file is made here or by another, who is as good. */
static int
make(int dir, const char *path, int flags, mode_t mode)
{
	mode_t wide = private_mode(dir, path, mode);
	int fd = openat(dir, path, flags | O_EXCL, wide);

	if (fd < 0 && errno == EEXIST && !(flags & O_EXCL))
		return openat(dir, path, flags & ~O_CREAT);
	/* The umask may have taken the group's rights. */
	if (fd >= 0 && wide != mode && fchmod(fd, wide)) {
		close(fd);
		return -1;
	}
	return fd;
}

int
private_open(int dir, const char *path, int flags, mode_t mode)
{
	int fd = -1;

	if (!(flags & O_EXCL)) {
		fd = openat(dir, path, flags & ~O_CREAT);
		if (fd >= 0 || errno != ENOENT)
			return fd;
	}
	return flags & O_CREAT ? make(dir, path, flags, mode) : -1;
}

int
private_mkdir(int dir, const char *path, mode_t mode)
{
	mode_t parent = parent_mode(dir, path);
	mode_t wide = widened(parent, mode);

	if ((parent & NOT_OWNER) != FOR_GROUP)
		return mkdirat(dir, path, mode);
	/* Below a directory for the group, nothing is for others. */
	wide &= ~(mode_t)7;
	if (mkdirat(dir, path, wide))
		return -1;
	/* chmod would take away the bit that hands down the group. */
	return fchmodat(dir, path, wide | (parent & S_ISGID), 0);
}

void
private_touch(const char *path)
{
	/* No descriptor: closing one would end SQLite's locks on the file. */
	if (private_is_shared(AT_FDCWD, path) &&
	    mknod(path, S_IFREG | 0660, 0) == 0)
		(void)chmod(path, 0660);
}

static bool
is_in_group(gid_t group)
{
	gid_t list[NGROUPS_MAX];
	int n = getgroups(NGROUPS_MAX, list);

	/* The superuser acts for every group. */
	if (geteuid() == 0 || getegid() == group)
		return true;
	for (int i = 0; i < n; i++)
		if (list[i] == group)
			return true;
	return false;
}

int
private_check(const char *dir, struct err *e)
{
	struct stat st;

	/* Who may not look into it will be told that. */
	if (stat(dir, &st) || access(dir, X_OK))
		return 0;
	if (st.st_mode & S_IWOTH)
		return err_set(e, &err_unavailable,
		    "everybody may write in %s (mode %04o): chmod 0700 it, or"
		    " 2770 for users of one group",
		    dir, (unsigned)st.st_mode & 07777);
	if (st.st_mode & S_IWGRP && !is_in_group(st.st_gid))
		return err_set(e, &err_unavailable,
		    "a group that this user is not in, %u, may write in %s (mode"
		    " %04o): chmod 0700 it, or chgrp it to the services' group",
		    (unsigned)st.st_gid, dir, (unsigned)st.st_mode & 07777);
	return 0;
}
