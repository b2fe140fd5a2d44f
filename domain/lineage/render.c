#include "domain/lineage/render.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "domain/lineage/files.h"
#include "domain/service.h"
#include "ledger/base/private.h"

static struct str
uid_as_text(struct arena *a, struct uid uid)
{
	char text[UID_TEXT + 1];

	uid_format(uid, text);
	return arena_str(a, str_from(text));
}

static int
read_manifest(struct context *c, const struct export_record *x,
    struct manifest *out, struct err *e)
{
	int found;

	if (covered_read(c, (uint64_t)x->size, &out->covered, e) ||
	    manifest_key_event(c, x->key_id, &out->key_seq, e))
		return -1;
	found = scope_find(c, x->scope_type, uid_as_text(c->arena, x->scope_id),
	    (uint64_t)x->size, &out->scope, e);
	if (found == 0)
		return err_set(e, &err_corrupt,
		    "the record of the export is not in the ledger");
	return found < 0 ? -1 : 0;
}

int
manifest_of(struct context *c, const struct export_record *x,
    struct manifest *out, struct err *e)
{
	struct context own = *c;
	struct reading reading;
	int rc;

	*out = (struct manifest){ .generated_at = x->generated_at };
	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	own.reading = &reading;
	own.db = reading.db;
	rc = read_manifest(&own, x, out, e);
	ledger_read_end(&reading);
	return rc;
}

static void
tell(void *arg, uint64_t done)
{
	export_tell_progress(*(int *)arg, done);
}

static int
write_file(struct context *c, const struct manifest *m,
    const struct export_record *x, struct rendered *out, struct err *e)
{
	uint64_t floor = (uint64_t)service_config(c->service)->free_floor;
	const char *part, *path;
	struct file_sink *sink;

	if (export_path(c, x->uid, FILE_PART, &part, e) ||
	    export_path(c, x->uid, "", &path, e) ||
	    file_sink_open(part, floor, &sink, e))
		return -1;
	if (manifest_write(c, m, file_sink_of(sink), e)) {
		file_sink_drop(sink);
		return -1;
	}
	return file_sink_end(sink, path, &out->sha256, &out->bytes, e);
}

int
render_file(struct context *c, const struct export_record *x,
    struct rendered *out, struct err *e)
{
	const char *dir, *progress;
	struct manifest m;
	int fd, rc;

	if (manifest_of(c, x, &m, e) || export_dir(c, &dir, e) ||
	    export_path(c, x->uid, FILE_PROGRESS, &progress, e))
		return -1;
	fd = private_open(
	    AT_FDCWD, progress, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(
		    e, &err_unavailable, "cannot write %s", progress);
	m.progress = tell;
	m.progress_arg = &fd;
	tell(&fd, 0);
	rc = write_file(c, &m, x, out, e);
	close(fd);
	unlink(progress);
	return rc;
}

/* One piece. */
struct memory_source {
	struct str bytes;
	bool given;
};

static int
rewind_memory(void *arg, struct err *e)
{
	struct memory_source *s = arg;

	(void)e;
	s->given = false;
	return 0;
}

static int
next_in_memory(void *arg, struct str *piece, struct err *e)
{
	struct memory_source *s = arg;

	(void)e;
	*piece = s->given ? STR("") : s->bytes;
	s->given = true;
	return 0;
}

int
sign_bytes(const struct manifest_key *key, struct str bytes,
    struct signature *out, struct err *e)
{
	struct memory_source memory = { .bytes = bytes };
	struct ed25519_source source = { rewind_memory, next_in_memory,
		&memory };

	return dsse_sign(key->key, STR(DSSE_IN_TOTO), bytes.n, &source, out, e);
}

#define PIECE_BYTES 65536

struct file_source {
	int fd;
	char piece[PIECE_BYTES];
};

static int
rewind_file(void *arg, struct err *e)
{
	const struct file_source *s = arg;

	if (lseek(s->fd, 0, SEEK_SET) != 0)
		return err_errno(e, &err_unavailable, "cannot go back");
	return 0;
}

static int
next_in_file(void *arg, struct str *piece, struct err *e)
{
	struct file_source *s = arg;
	ssize_t n;

	do
		n = read(s->fd, s->piece, sizeof s->piece);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(e, &err_unavailable, "cannot read");
	*piece = (struct str){ s->piece, (size_t)n };
	return 0;
}

int
sign_file(const struct manifest_key *key, const char *path, uint64_t bytes,
    struct signature *out, struct err *e)
{
	struct file_source file = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	struct ed25519_source source = { rewind_file, next_in_file, &file };
	int rc;

	if (file.fd < 0)
		return err_errno(e, &err_unavailable, "cannot open %s", path);
	rc = dsse_sign(key->key, STR(DSSE_IN_TOTO), bytes, &source, out, e);
	close(file.fd);
	return rc;
}
