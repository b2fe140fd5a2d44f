#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/private.h"
#include "ledger/base/uid.h"
#include "ledger/store/leftovers.h"
#include "ledger/store/repo_git.h"

static const char head_text[] = "ref: " REPO_BRANCH "\n";

/* extensions.preciousObjects makes stock git refuse to prune or to repack
 * with removal; the rest keeps its automatic upkeep away. */
static const char config_text[] = "[core]\n"
				  "\trepositoryFormatVersion = 1\n"
				  "\tbare = true\n"
				  "[extensions]\n"
				  "\tpreciousObjects = true\n"
				  "[gc]\n"
				  "\tauto = 0\n"
				  "\tpackRefs = false\n"
				  "[maintenance]\n"
				  "\tauto = false\n"
				  "[receive]\n"
				  "\tautogc = false\n"
				  "[http]\n"
				  "\treceivepack = false\n"
				  /* libgit2 takes this for the size from which
				   * it looks for no delta: batches have none
				   * worth two thirds of the packing time. */
				  "[pack]\n"
				  "\tdeltaCacheSize = 1\n";

/* Whether the file below r->path has these bytes and no more. */
static bool
file_is(const struct repo *r, const char *name, struct str text)
{
	char found[sizeof(config_text) + 1];

	return str_eq(repo_file(r, name, found, sizeof(found)), text);
}

bool
repo_is_as_made(const struct repo *r)
{
	return file_is(r, "config", str_from(config_text)) &&
	       file_is(r, "HEAD", str_from(head_text)) &&
	       !faccessat(r->dir, "refs", R_OK | X_OK, 0);
}

/* The innermost come last, so that syncing backwards meets children first. */
static const char *const directories[] = { "", "/objects", "/objects/info",
	"/objects/pack", "/refs", "/refs/heads", "/refs/tags" };

static int
file_make(const char *dir, const char *name, struct str text, struct err *e)
{
	char *path;
	int fd, rc = -1;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	fd = private_open(
	    AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || io_write_all(fd, text.p, text.n) || fsync(fd))
		err_errno(e, &err_unavailable, "cannot write %s", path);
	else
		rc = 0;
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

/* Makes (or syncs) dir + tail. */
static int
directory_do(const char *dir, const char *tail, bool sync, struct err *e)
{
	char *path;
	int rc;

	if (asprintf(&path, "%s%s", dir, tail) < 0)
		abort();
	if (sync)
		rc = io_fsync_dir(path, e);
	else if ((rc = private_mkdir(AT_FDCWD, path, 0777)))
		err_errno(e, &err_unavailable, "cannot make %s", path);
	free(path);
	return rc;
}

static int
fan_out_do(const char *dir, bool sync, struct err *e)
{
	for (unsigned i = 0; i < 256; i++) {
		char tail[sizeof("/objects/00")];

		snprintf(tail, sizeof(tail), "/objects/%02x", i);
		if (directory_do(dir, tail, sync, e))
			return -1;
	}
	return 0;
}

static int
build(const char *dir, struct err *e)
{
	size_t n = sizeof(directories) / sizeof(directories[0]);

	for (size_t i = 0; i < n; i++)
		if (directory_do(dir, directories[i], false, e))
			return -1;
	if (fan_out_do(dir, false, e) ||
	    file_make(dir, "HEAD", str_from(head_text), e) ||
	    file_make(dir, "config", str_from(config_text), e) ||
	    fan_out_do(dir, true, e))
		return -1;
	while (n--)
		if (directory_do(dir, directories[n], true, e))
			return -1;
	return 0;
}

/* rename(2) alone would replace an empty directory. */
static int
rename_new(const char *from, const char *to)
{
	struct stat st;

	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!lstat(to, &st)) {
		errno = EEXIST;
		return -1;
	}
	return rename(from, to);
}

int
repo_create(const char *path, struct err *e)
{
	uint64_t tag;
	char *temp;
	int rc = -1;

	leftovers_remove(path);
	random_bytes(&tag, sizeof(tag));
	if (asprintf(&temp, "%s.new-%016llx", path, (unsigned long long)tag) <
	    0)
		abort();
	if (build(temp, e))
		goto out;
	if (rename_new(temp, path)) {
		bool taken =
		    errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;

		err_errno(e, taken ? &err_conflict : &err_unavailable,
		    "cannot make %s", path);
		goto out;
	}
	rc = io_fsync_parent(path, e);
	free(temp);
	return rc;
out:
	(void)io_remove_tree(temp);
	free(temp);
	return rc;
}
