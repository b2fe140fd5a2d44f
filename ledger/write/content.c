#include "ledger/write/content.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/write/writer.h"

/* More than any key file has. */
#define KEY_FILE_MAX 4096

/* Random throughout (version 4), so that keys spread over the folders and none
 * tells when it was made. */
static struct uid
new_key_uid(void)
{
	struct uid u;

	random_bytes(u.b, sizeof u.b);
	u.b[6] = (uint8_t)(0x40 | (u.b[6] & 0x0f));
	u.b[8] = (uint8_t)(0x80 | (u.b[8] & 0x3f));
	return u;
}

static char *
key_folder(const struct ledger *l, struct uid key, struct arena *a)
{
	return arena_printf(a, "%s/%02x", l->content_dir, key.b[0]);
}

static char *
key_path(const struct ledger *l, struct uid key, struct arena *a)
{
	char text[UID_TEXT + 1];

	uid_format(key, text);
	return arena_printf(a, "%s/%s.key", key_folder(l, key, a), text);
}

int
content_key_make(struct ledger *l, struct content_key *out, struct err *e)
{
	struct arena *a = arena_new();
	int rc = -1;

	out->uid = new_key_uid();
	random_bytes(out->secret, sizeof out->secret);
	if (io_make_dirs(key_folder(l, out->uid, a), 0700, e) == 0)
		rc = secret_save(out->secret, key_path(l, out->uid, a), e);
	arena_free(a);
	return rc;
}

int
content_key_load(
    struct ledger *l, struct uid key, struct content_key *out, struct err *e)
{
	struct arena *a = arena_new();
	struct err why = { 0 };
	int rc = secret_load(key_path(l, key, a), out->secret, &why);

	out->uid = key;
	if (rc && why.kind == &err_not_found)
		err_set(e, why.kind, "%s", why.detail);
	else if (rc)
		err_own(e, &err_unavailable, &why);
	arena_free(a);
	return rc;
}

/* In place: another name that a crash left to the same file loses its content
 * as well. */
static int
overwrite(int fd, const char *path, struct err *e)
{
	static const char zeros[KEY_FILE_MAX];
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > KEY_FILE_MAX)
		return err_set(e, &err_unavailable,
		    "%s is no content key; remove it by hand", path);
	if (io_pwrite_all(fd, zeros, (size_t)st.st_size, 0) || fsync(fd))
		return err_errno(
		    e, &err_unavailable, "cannot overwrite %s", path);
	return 0;
}

static int
destroy(const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(e, &err_unavailable, "cannot open %s", path);
	rc = overwrite(fd, path, e);
	close(fd);
	if (rc)
		return -1;
	/* Two processes may finish the same erasure. */
	if (unlink(path) && errno != ENOENT)
		return err_errno(e, &err_unavailable, "cannot remove %s", path);
	return io_fsync_parent(path, e);
}

int
content_key_destroy(struct ledger *l, struct uid key, struct err *e)
{
	struct arena *a = arena_new();
	int rc = destroy(key_path(l, key, a), e);

	arena_free(a);
	return rc;
}
