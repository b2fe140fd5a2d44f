#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/private.h"
#include "ledger/store/repo_git.h"

#define LOCK_FILE  REPO_BRANCH ".lock"
#define SPARE_FILE "branch.spare"
#define WAIT_MS    1000
#define STEP_MS    2
#define WAIT_STEPS (WAIT_MS / STEP_MS)

/* As it nearly always is: a file with 40 hex digits and a line feed. */
static bool
read_plain(const struct repo *r, struct oid *out)
{
	char bytes[OID_HEX + 2];
	struct str line = repo_file(r, REPO_BRANCH, bytes, sizeof(bytes));

	return line.n == OID_HEX + 1 && line.p[OID_HEX] == '\n' &&
	       oid_from_hex(str_slice(line, 0, OID_HEX), out);
}

/* As stock git may have left it: packed, symbolic, or not there at all. */
static int
read_any(struct repo *r, struct oid *out, bool *exists, struct err *e)
{
	git_reference *ref = NULL;
	const git_oid *id;
	int rc;

	if (repo_git(r, e))
		return -1;
	rc = git2.reference_lookup(&ref, r->git, REPO_BRANCH);
	if (rc == GIT_ENOTFOUND)
		return 0;
	if (rc)
		return repo_git_fail(
		    e, &err_corrupt, "the branch cannot be read");
	id = git2.reference_target(ref);
	if (id) {
		*out = oid_from_git(id);
		*exists = true;
	}
	git2.reference_free(ref);
	if (!*exists)
		return err_set(e, &err_corrupt,
		    "the branch names another reference, not a commit");
	return 0;
}

int
repo_branch(struct repo *r, struct oid *out, bool *exists, struct err *e)
{
	*exists = read_plain(r, out);
	return *exists ? 0 : read_any(r, out, exists, e);
}

enum place { AT_FROM, AT_TO, ELSEWHERE, TORN };

static enum place
branch_place(struct repo *r, const struct oid *from, struct oid to)
{
	struct oid now;
	bool exists;

	if (repo_branch(r, &now, &exists, NULL))
		return TORN;
	if (exists && oid_eq(now, to))
		return AT_TO;
	if (exists ? from && oid_eq(now, *from) : !from)
		return AT_FROM;
	return ELSEWHERE;
}

/*
 * Puts the lock file, which holds the new commit, in the branch's place. The
 * file that was there is kept for the next time: a file made and one removed
 * with every batch wear on a filesystem that avoids inodes just freed.
 */
static int
put_in_place(const struct repo *r)
{
	/* Not a plain rename: over a file ext4 makes that wait until the new
	 * one's block is allocated and on its way, a third of a millisecond.
	 * What a lost boot tears is mended from the journal anyway. */
	if (renameat2(r->dir, LOCK_FILE, r->dir, REPO_BRANCH, RENAME_EXCHANGE))
		return renameat(r->dir, LOCK_FILE, r->dir, REPO_BRANCH);
	if (!renameat2(r->dir, LOCK_FILE, r->dir, SPARE_FILE, RENAME_NOREPLACE))
		return 0;
	return unlinkat(r->dir, LOCK_FILE, 0);
}

/* The spare file under the lock's name, as long as a reference is. */
static int
lock_from_spare(const struct repo *r)
{
	int fd;

	if (renameat2(r->dir, SPARE_FILE, r->dir, LOCK_FILE, RENAME_NOREPLACE))
		return -1;
	fd = openat(r->dir, LOCK_FILE, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || ftruncate(fd, OID_HEX + 1)) {
		if (fd >= 0)
			close(fd);
		unlinkat(r->dir, LOCK_FILE, 0);
		return -1;
	}
	return fd;
}

static int
lock_make(const struct repo *r)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	int fd = lock_from_spare(r);

	if (fd < 0)
		fd = private_open(r->dir, LOCK_FILE, flags, 0666);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* `git pack-refs` removes the directory when it has become empty. */
	(void)private_mkdir(r->dir, "refs/heads", 0777);
	return private_open(r->dir, LOCK_FILE, flags, 0666);
}

/*
 * One attempt, with git's own protocol: the lock file, made by whoever comes
 * first, becomes the reference. AT_FROM: not done, try again. A torn file is
 * replaced in the same one step: without it an older commit in packed-refs
 * would show.
 */
static enum place
move_once(struct repo *r, const struct oid *from, struct oid to, bool force,
    struct err *e)
{
	char line[OID_HEX + 2];
	enum place at;
	int fd = lock_make(r), rc;

	err_clear(e);
	if (fd < 0) {
		err_errno(e, &err_unavailable, "cannot lock the branch");
		return branch_place(r, from, to);
	}
	at = branch_place(r, from, to);
	if (at == ELSEWHERE || (!force && at != AT_FROM)) {
		close(fd);
		unlinkat(r->dir, LOCK_FILE, 0);
		return at;
	}
	oid_hex(to, line);
	line[OID_HEX] = '\n';
	rc = io_write_all(fd, line, OID_HEX + 1);
	if (rc)
		err_errno(e, &err_unavailable, "cannot write the branch");
	rc |= close(fd);
	if (!rc)
		rc = put_in_place(r);
	if (!rc)
		return AT_TO;
	err_errno(e, &err_unavailable, "cannot move the branch");
	unlinkat(r->dir, LOCK_FILE, 0);
	return branch_place(r, from, to);
}

/* Who holds the lock file. Its inode's number alone may be used again. */
struct holder {
	bool held;
	dev_t dev;
	ino_t ino;
	struct timespec since;
};

static struct holder
lock_holder(const struct repo *r)
{
	struct holder h = { 0 };
	struct stat st;

	if (!fstatat(r->dir, LOCK_FILE, &st, AT_SYMLINK_NOFOLLOW)) {
		h.held = true;
		h.dev = st.st_dev;
		h.ino = st.st_ino;
		h.since = st.st_ctim;
	}
	return h;
}

static bool
holder_eq(struct holder a, struct holder b)
{
	return a.held && b.held && a.dev == b.dev && a.ino == b.ino &&
	       a.since.tv_sec == b.since.tv_sec &&
	       a.since.tv_nsec == b.since.tv_nsec;
}

static void
wait_step(void)
{
	struct timespec t = { 0, STEP_MS * 1000000L };

	nanosleep(&t, NULL);
}

/*
 * Beside us `git pack-refs` may hold the lock, or remove refs/heads. Nothing
 * but the place where the branch is in the end tells whether it was moved.
 */
int
repo_move_branch(struct repo *r, const struct oid *from, struct oid to,
    bool force, struct err *e)
{
	struct holder first = { 0 };
	struct err failure = { 0 };
	bool same = true; /* one and the same lock all the time */

	if (!force && !loose_exists(r, to) && !repo_has(r, to))
		return err_set(e, &err_corrupt,
		    "the commit that the branch should name is not there");
	for (int step = 0; step <= WAIT_STEPS; step++) {
		enum place at = move_once(r, from, to, force, &failure);

		if (at == AT_TO)
			return 0;
		if (at == ELSEWHERE)
			return err_set(
			    e, &err_conflict, "the branch is not where it was");
		if (at == TORN && !force)
			return err_set(
			    e, &err_corrupt, "the branch cannot be read");
		if (step == 0)
			first = lock_holder(r);
		same = same && holder_eq(first, lock_holder(r));
		if (step == WAIT_STEPS - 1 && same)
			unlinkat(r->dir, LOCK_FILE, 0);
		else
			wait_step();
	}
	return err_set(e, failure.kind, "%s", failure.detail);
}
