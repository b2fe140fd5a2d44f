#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/store/repo_git.h"

#define LOCK_FILE  REPO_BRANCH ".lock"
#define WAIT_MS    1000
#define STEP_MS    2
#define WAIT_STEPS (WAIT_MS / STEP_MS)

int
repo_branch(struct repo *r, struct oid *out, bool *exists, struct err *e)
{
	git_reference *ref = NULL;
	const git_oid *id;
	int rc = git_reference_lookup(&ref, r->git, REPO_BRANCH);

	*exists = false;
	if (rc == GIT_ENOTFOUND)
		return 0;
	if (rc)
		return repo_git_fail(
		    e, &err_corrupt, "the branch cannot be read");
	id = git_reference_target(ref);
	if (id) {
		*out = oid_from_git(id);
		*exists = true;
	}
	git_reference_free(ref);
	if (!*exists)
		return err_set(e, &err_corrupt,
		    "the branch names another reference, not a commit");
	return 0;
}

/* One attempt. */
static int
move_once(struct repo *r, const struct oid *from, struct oid to)
{
	git_oid id = oid_to_git(to), was;
	git_reference *ref = NULL;
	int rc;

	if (from) {
		was = oid_to_git(*from);
		rc = git_reference_create_matching(
		    &ref, r->git, REPO_BRANCH, &id, true, &was, NULL);
	} else
		rc = git_reference_create(
		    &ref, r->git, REPO_BRANCH, &id, false, NULL);
	git_reference_free(ref);
	return rc;
}

/*
 * Over a torn file, which libgit2 refuses even when told to force. In one step
 * by the same lock file: without the torn file an older commit in packed-refs
 * would show. Recovery writes the commit's objects only after this.
 */
static int
replace_torn(struct repo *r, struct oid to)
{
	char line[OID_HEX + 2];
	int fd, rc;

	oid_hex(to, line);
	line[OID_HEX] = '\n';
	fd = openat(
	    r->dir, LOCK_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	rc = io_write_all(fd, line, OID_HEX + 1);
	rc |= close(fd);
	if (!rc)
		rc = renameat(r->dir, LOCK_FILE, r->dir, REPO_BRANCH);
	if (rc)
		unlinkat(r->dir, LOCK_FILE, 0);
	return rc;
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

/* What a failed attempt means: true to try again, else *rc is the answer. */
static bool
move_again(enum place at, bool force, struct err *failure, int *rc)
{
	*rc = -1;
	switch (at) {
	case AT_FROM:
		return true;
	case AT_TO:
		*rc = 0;
		return false;
	case TORN:
		if (force)
			return true;
		err_clear(failure);
		err_set(failure, &err_corrupt, "the branch cannot be read");
		return false;
	case ELSEWHERE:
		err_clear(failure);
		err_set(
		    failure, &err_conflict, "the branch is not where it was");
		return false;
	}
	return false;
}

/*
 * Beside us `git pack-refs` may hold the lock, or remove refs/heads between
 * libgit2's making it and its using it. Nothing but the place where the branch
 * is in the end tells whether it was moved.
 */
int
repo_move_branch(struct repo *r, const struct oid *from, struct oid to,
    bool force, struct err *e)
{
	enum place at = force ? branch_place(r, from, to) : AT_FROM;
	struct holder first = { 0 };
	struct err failure = { 0 };
	bool same = true; /* one and the same lock all the time */
	int rc = -1;

	for (int step = 0; step <= WAIT_STEPS; step++) {
		if (at == TORN ? !replace_torn(r, to) : !move_once(r, from, to))
			return 0;
		err_clear(&failure);
		repo_git_fail(
		    &failure, &err_unavailable, "cannot move the branch");
		at = branch_place(r, from, to);
		if (!move_again(at, force, &failure, &rc))
			break;
		if (step == 0)
			first = lock_holder(r);
		same = same && holder_eq(first, lock_holder(r));
		if (step == WAIT_STEPS - 1 && same)
			unlinkat(r->dir, LOCK_FILE, 0);
		else
			wait_step();
	}
	if (rc)
		err_set(e, failure.kind, "%s", failure.detail);
	return rc;
}
