#include "domain/lineage/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "domain/service.h"
#include "ledger/base/io.h"
#include "ledger/base/private.h"

#define PROGRESS_DIGITS 20

static int
dir_path(struct context *c, const char **out, struct err *e)
{
	struct ledger_options options;

	if (service_ledger_options(c->service, c->place, c->arena, &options, e))
		return -1;
	*out = arena_printf(c->arena, "%s/exports", options.dir);
	return 0;
}

int
export_dir(struct context *c, const char **out, struct err *e)
{
	return dir_path(c, out, e) ? -1 : io_make_dirs(*out, 0700, e);
}

int
export_path(struct context *c, struct uid uid, const char *suffix,
    const char **out, struct err *e)
{
	char text[UID_TEXT + 1];
	const char *dir;

	if (dir_path(c, &dir, e))
		return -1;
	uid_format(uid, text);
	*out = arena_printf(c->arena, "%s/%s%s", dir, text, suffix);
	return 0;
}

bool
export_is_there(struct context *c, struct uid uid, int64_t bytes)
{
	const char *path;
	struct stat st;

	return export_path(c, uid, "", &path, NULL) == 0 &&
	       stat(path, &st) == 0 && st.st_size == bytes;
}

int
export_want(struct context *c, struct uid uid, struct err *e)
{
	const char *dir, *path;
	int fd;

	if (export_dir(c, &dir, e) ||
	    export_path(c, uid, FILE_WANTED, &path, e))
		return -1;
	fd = private_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(e, &err_unavailable, "cannot write %s", path);
	close(fd);
	return 0;
}

static bool
is_wanted(const char *name, struct uid *uid)
{
	struct str s = str_from(name);

	return str_has_suffix(s, STR(FILE_WANTED)) &&
	       uid_parse(str_slice(s, 0, s.n - (sizeof FILE_WANTED - 1)), uid);
}

int
export_wanted(struct context *c, struct uid *uid, struct err *e)
{
	const char *path;
	struct dirent *entry;
	int found = 0;
	DIR *d;

	if (dir_path(c, &path, e))
		return -1;
	d = opendir(path);
	if (!d)
		return errno == ENOENT
			   ? 0
			   : err_errno(e, &err_unavailable, "%s", path);
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while (!found && (entry = readdir(d)))
		found = is_wanted(entry->d_name, uid);
	closedir(d);
	return found;
}

/* Of one length, so that whoever reads meanwhile gets the old or the new. */
void
export_tell_progress(int fd, uint64_t done)
{
	char text[PROGRESS_DIGITS + 1];

	snprintf(text, sizeof text, "%020" PRIu64, done);
	(void)io_pwrite_all(fd, text, PROGRESS_DIGITS, 0);
}

uint64_t
export_progress(struct context *c, struct uid uid)
{
	const char *path;
	struct str text;
	uint64_t done = 0;

	if (export_path(c, uid, FILE_PROGRESS, &path, NULL) ||
	    io_read_file(c->arena, path, PROGRESS_DIGITS, &text, NULL))
		return 0;
	while (text.n > 1 && text.p[0] == '0')
		text = str_slice(text, 1, text.n);
	return str_to_u64(text, &done) ? done : 0;
}
