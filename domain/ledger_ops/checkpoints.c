/*
 * Checkpoints that leave the host: a folder that somebody else reads, where
 * nothing is ever changed. It remembers what this machine once signed.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>

#include "domain/ledger_ops/group.h"
#include "domain/service.h"
#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/crypto/note.h"

#define SUFFIX      ".checkpoint"
#define SIZE_DIGITS 20

static bool export_due(struct context *);
static int export_run(
    struct context *, const struct job *, const struct json **, struct err *);

const struct job_kind job_ledger_export_checkpoint = {
	.name = "ledger.export_checkpoint",
	.lease_s = 600,
	.attempts = 1,
	.run = export_run,
	.due = export_due,
};

bool
ledger_job_is_due(struct context *c, const char *kind, int64_t minutes)
{
	struct err e = { 0 };
	int64_t last;

	if (db_get_int(c->db, &last, 0, &e,
		"SELECT max(queued_at) FROM job WHERE kind = ?", "s",
		str_from(kind))) {
		log_line(LOG_WARN, "worker", "%s: %s", kind, e.detail);
		return false;
	}
	return c->now.us - last >= minutes * INT64_C(60000000);
}

static bool
export_due(struct context *c)
{
	const struct config *config = service_config(c->service);

	return config->checkpoint_folder.n > 0 &&
	       ledger_job_is_due(c, job_ledger_export_checkpoint.name,
		   config->checkpoint_minutes);
}

/* The size that a file's name tells; false for other files. */
static bool
size_of(struct str name, uint64_t *size)
{
	size_t zeros = 0;

	if (name.n != SIZE_DIGITS + sizeof SUFFIX - 1 ||
	    !str_has_suffix(name, STR(SUFFIX)))
		return false;
	name.n = SIZE_DIGITS;
	while (zeros < name.n - 1 && name.p[zeros] == '0')
		zeros++;
	return str_to_u64(str_slice(name, zeros, name.n), size);
}

/* The largest size that the folder has; 0: none. */
static int
find_largest(const char *folder, uint64_t *out, struct err *e)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	uint64_t size;

	*out = 0;
	if (!d)
		return err_errno(e, &err_unavailable, "cannot read %s", folder);
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((entry = readdir(d)))
		if (size_of(str_from(entry->d_name), &size) && size > *out)
			*out = size;
	closedir(d);
	return 0;
}

static char *
path_of(struct arena *a, const char *folder, uint64_t size)
{
	return arena_printf(
	    a, "%s/%0*" PRIu64 SUFFIX, folder, SIZE_DIGITS, size);
}

/* Either the folder was tampered with, or the ledger was. */
static int
alarm_about(const char *path, struct err *e)
{
	log_line(LOG_ERROR, "worker",
	    "%s is not what the ledger has at that size", path);
	return err_set(e, &err_conflict,
	    "%s is not what the ledger has at that size; keep both, and look"
	    " who changed one",
	    path);
}

/* A checkpoint of a size within a batch, or beyond the end, is none of this
 * ledger's. */
static int
compare(struct context *c, const char *folder, uint64_t size, struct err *e)
{
	const char *path = path_of(c->arena, folder, size);
	struct str kept, own;
	uint64_t at = size;
	struct err cause = { 0 };

	if (io_read_file(c->arena, path, NOTE_MAX, &kept, &cause))
		return cause.kind == &err_too_large
			   ? alarm_about(path, e)
			   : err_set(e, cause.kind, "%s", cause.detail);
	if (ledger_read_checkpoint(c->reading, &at, c->arena, &own, &cause))
		return cause.kind == &err_not_found
			   ? alarm_about(path, e)
			   : err_set(e, cause.kind, "%s", cause.detail);
	return at == size && str_eq(kept, own) ? 0 : alarm_about(path, e);
}

static int
write_newest(
    struct context *c, const char *folder, uint64_t *size, struct err *e)
{
	struct err cause = { 0 };
	struct str note;

	*size = 0;
	if (ledger_read_checkpoint(c->reading, size, c->arena, &note, e))
		return -1;
	if (io_create_file(
		path_of(c->arena, folder, *size), note, 0644, &cause) == 0)
		return 0;
	if (cause.kind == &err_conflict)
		return compare(c, folder, *size, e);
	return err_set(e, cause.kind, "%s", cause.detail);
}

static int
export_run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	const char *folder = arena_printf(c->arena, "%.*s/%.*s/%.*s",
	    STR_ARGS(service_config(c->service)->checkpoint_folder),
	    STR_ARGS(c->place->workspace), STR_ARGS(c->place->environment));
	struct json *v = json_object(c->arena);
	uint64_t last, size;

	(void)job;
	if (io_make_dirs(folder, 0755, e) || find_largest(folder, &last, e))
		return -1;
	if (last > 0 && compare(c, folder, last, e))
		return -1;
	if (write_newest(c, folder, &size, e))
		return -1;
	json_put_int(c->arena, v, "size", (int64_t)size);
	*result = v;
	return 0;
}
