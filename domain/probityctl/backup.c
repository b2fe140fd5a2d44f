/*
 * Backups and what is put back from them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "domain/probityctl/ctl.h"
#include "ledger/write/backup.h"

struct backup_request {
	struct str to;
};

struct restore_request {
	struct str from, checkpoint;
};

/* clang-format off */
SHAPE(backup_request, "Where the copy is",
	FIELD(backup_request, to, .required = true, .doc = "Path of a bare repository; made when there is none"));
SHAPE(restore_request, "What is put back",
	FIELD(restore_request, from, .required = true, .doc = "Path of the backup, or of a clone"),
	FIELD(restore_request, checkpoint, .doc = "A signed checkpoint kept elsewhere, which the backup must contain"));
/* clang-format on */

static void
show_commits(void *unused, uint64_t done, uint64_t total)
{
	(void)unused;
	fprintf(
	    stderr, "\r%" PRIu64 " of %" PRIu64 " batches copied", done, total);
	if (done >= total)
		fputc('\n', stderr);
}

static struct backup_watch
watch(void)
{
	struct backup_watch w = { 0 };

	if (isatty(STDERR_FILENO)) {
		w.copying.call = show_commits;
		w.verifying = show_progress;
	}
	return w;
}

static void
print_report(const struct ctl *ctl, const struct backup_report *r)
{
	struct json *v = json_object(ctl->arena);
	char root[DIGEST_HEX + 1];
	struct buf b;

	digest_hex(r->verify.root, root);
	if (!ctl->json) {
		printf("%-20s  %" PRIu64 "\n%-20s  %" PRIu64 "\n%-20s  %" PRIu64
		       "\n%-20s  %s\n",
		    "batches copied", r->commits, "batches", r->verify.batches,
		    "events, verified", r->verify.size, "root", root);
		return;
	}
	json_put_int(ctl->arena, v, "batches_copied", (int64_t)r->commits);
	json_put_int(ctl->arena, v, "batches", (int64_t)r->verify.batches);
	json_put_int(ctl->arena, v, "events", (int64_t)r->verify.size);
	json_put_str(ctl->arena, v, "root", str_from(root));
	json_put_str(
	    ctl->arena, v, "checkpoint", str_from(r->verify.checkpoint));
	buf_init(&b, 65536);
	json_write_pretty(v, &b);
	printf("%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

static char *
param_path(const struct ctl *ctl, const char *name)
{
	return arena_cstr(ctl->arena, ctl_param(ctl, name));
}

int
run_backup(struct ctl *ctl, struct err *e)
{
	struct ledger_options options;
	struct backup_watch w = watch();
	struct backup_report r;

	if (service_ledger_options(
		ctl->service, &ctl->place, ctl->arena, &options, e) ||
	    ledger_backup(&options, param_path(ctl, "to"), &w, &r, e))
		return -1;
	print_report(ctl, &r);
	return 0;
}

int
run_restore(struct ctl *ctl, struct err *e)
{
	struct ledger_options options;
	struct backup_watch w = watch();
	struct backup_report r;

	if (service_ledger_options(
		ctl->service, &ctl->place, ctl->arena, &options, e) ||
	    ledger_restore(&options, param_path(ctl, "from"),
		ctl_param(ctl, "checkpoint"), &w, &r, e))
		return -1;
	print_report(ctl, &r);
	return 0;
}
