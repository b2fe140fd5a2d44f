#include "ledger/store/repo.h"

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

int
repo_git_fail(struct err *e, const struct err_kind *kind, const char *what)
{
	const git_error *g = git2.error_last();
	const char *why = g && g->message ? g->message : "no reason given";

	/* libgit2 keeps the text of errno but not the number. */
	if (strstr(why, strerror(ENOSPC)) || strstr(why, strerror(EDQUOT)))
		kind = &err_no_space;
	return err_set(e, kind, "%s: %s", what, why);
}

/* Every setting without which stock git may remove or move what is
 * acknowledged. */
static const struct {
	const char *name;
	int32_t value;
	bool is_bool;
} settings[] = {
	{ "core.repositoryformatversion", 1, false },
	{ "core.bare", true, true },
	{ "extensions.preciousobjects", true, true },
	{ "gc.auto", 0, false },
	{ "gc.packrefs", false, true },
	{ "maintenance.auto", false, true },
	{ "receive.autogc", false, true },
	{ "http.receivepack", false, true },
};

static int
settings_check(git_repository *git, struct err *e)
{
	git_config *config = NULL;
	int rc = -1;

	if (git2.repository_config_snapshot(&config, git))
		return repo_git_fail(
		    e, &err_corrupt, "cannot read the repository's settings");
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		int flag = -1;
		int32_t number = -1;
		int bad = settings[i].is_bool ? git2.config_get_bool(&flag,
						    config, settings[i].name)
					      : git2.config_get_int32(&number,
						    config, settings[i].name);

		if (settings[i].is_bool)
			number = flag;
		if (bad || number != settings[i].value) {
			err_set(e, &err_corrupt,
			    "the repository's setting %s must be %d",
			    settings[i].name, (int)settings[i].value);
			goto out;
		}
	}
	rc = 0;
out:
	git2.config_free(config);
	return rc;
}

static int
head_check(git_repository *git, struct err *e)
{
	git_reference *head = NULL;
	const char *target;
	bool good;

	if (git2.reference_lookup(&head, git, "HEAD"))
		return repo_git_fail(e, &err_corrupt, "cannot read HEAD");
	target = git2.reference_symbolic_target(head);
	good = target && !strcmp(target, REPO_BRANCH);
	git2.reference_free(head);
	if (!good)
		return err_set(
		    e, &err_corrupt, "HEAD does not name " REPO_BRANCH);
	return 0;
}

/* objects/ has 256 of them, info and pack, "." and the place it is in. */
#define ALL_LINKS (256 + 2 + 2)

static int
fan_out_check(struct repo *r, unsigned i, bool *made, struct err *e)
{
	char name[3];

	snprintf(name, sizeof(name), "%02x", i);
	if (!faccessat(r->objects, name, W_OK | X_OK, 0))
		return 0;
	if (errno != ENOENT)
		return err_errno(e, &err_unavailable,
		    "cannot write below %s/objects/%s", r->path, name);
	if (private_mkdir(r->objects, name, 0777) && errno != EEXIST)
		return err_errno(e, &err_unavailable,
		    "cannot make %s/objects/%s", r->path, name);
	*made = true;
	return 0;
}

/* Stock git removes fan-out directories that became empty; a batch must not
 * find one missing, nor a synced object lie in one that is not synced. Where
 * the filesystem counts them one look is enough: a plain CGI program would look
 * 256 times for each request. */
static int
fan_out_mend(struct repo *r, struct err *e)
{
	struct stat st;
	bool made = false;
	bool whole = !fstat(r->objects, &st) && st.st_nlink >= ALL_LINKS;

	for (unsigned i = 0; i < (whole ? 1 : 256); i++)
		if (fan_out_check(r, i, &made, e))
			return -1;
	if (made && fsync(r->objects))
		return err_errno(
		    e, &err_unavailable, "cannot sync %s/objects", r->path);
	return 0;
}

static int
directories_open(struct repo *r, struct err *e)
{
	r->dir = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dir < 0)
		return err_errno(e,
		    errno == ENOENT ? &err_not_found : &err_unavailable,
		    "cannot open %s", r->path);
	r->objects =
	    openat(r->dir, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->objects < 0)
		return err_errno(
		    e, &err_corrupt, "cannot open %s/objects", r->path);
	return 0;
}

struct str
repo_file(const struct repo *r, const char *name, char *out, size_t n)
{
	int fd = openat(r->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t got = fd < 0 ? -1 : pread(fd, out, n, 0);

	if (fd >= 0)
		close(fd);
	return got < 0 ? STR_NONE : (struct str){ out, (size_t)got };
}

int
repo_git(struct repo *r, struct err *e)
{
	if (r->odb)
		return 0;
	if (git2_load(e))
		return -1;
	if (!r->git && git2.repository_open_bare(&r->git, r->path))
		return repo_git_fail(
		    e, &err_corrupt, "cannot open the repository");
	return repo_odb_renew(r, true, e);
}

/* What is not as it was made may still be right: libgit2 knows. */
static int
settings_judge(struct repo *r, bool writable, struct err *e)
{
	if (repo_is_as_made(r))
		return 0;
	if (repo_git(r, e))
		return -1;
	return writable && (settings_check(r->git, e) || head_check(r->git, e))
		   ? -1
		   : 0;
}

static int
open_at(const char *path, bool writable, struct repo **out, struct err *e)
{
	struct repo *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->dir = r->objects = -1;
	random_bytes(&r->temp_tag, sizeof(r->temp_tag));
	r->path = strdup(path);
	if (!r->path)
		abort();
	if (directories_open(r, e) || settings_judge(r, writable, e) ||
	    (writable && fan_out_mend(r, e))) {
		repo_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

int
repo_open(const char *path, struct repo **out, struct err *e)
{
	leftovers_remove(path);
	return open_at(path, true, out, e);
}

int
repo_open_for_reading(const char *path, struct repo **out, struct err *e)
{
	struct stat st;
	char *inner;
	int rc;

	if (asprintf(&inner, "%s/.git", path) < 0)
		abort();
	/* A clone with a work tree has its repository one level down. */
	rc = open_at(stat(inner, &st) || !S_ISDIR(st.st_mode) ? path : inner,
	    false, out, e);
	free(inner);
	return rc;
}

void
repo_close(struct repo *r)
{
	if (!r)
		return;
	if (r->odb)
		git2.odb_free(r->odb);
	if (r->git)
		git2.repository_free(r->git);
	if (r->objects >= 0)
		close(r->objects);
	if (r->dir >= 0)
		close(r->dir);
	free(r->path);
	free(r);
}

int
repo_oid(
    enum object_kind kind, struct str bytes, struct oid *out, struct err *e)
{
	git_oid id;

	if (git2_load(e))
		return -1;
	if (git2.odb_hash(
		&id, bytes.p ? bytes.p : "", bytes.n, (git_object_t)kind))
		return repo_git_fail(
		    e, &err_invalid, "the content cannot be stored");
	*out = oid_from_git(&id);
	return 0;
}

int
repo_sync(struct repo *r, struct err *e)
{
	if (syncfs(r->dir))
		return err_errno(
		    e, &err_unavailable, "cannot sync %s", r->path);
	return 0;
}

const char *
repo_path(const struct repo *r)
{
	return r->path;
}
