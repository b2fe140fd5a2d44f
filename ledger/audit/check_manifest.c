#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ledger/audit/audit.h"
#include "ledger/audit/manifest_report.h"
#include "ledger/audit/progress.h"

struct arguments {
	const char *file;
	struct key_options keys;
	bool json;
};

static int
check(const struct arguments *args, struct manifest_report *r, struct err *e)
{
	struct manifest_options o = { .progress = progress_show_what };
	struct arena *a = arena_new();
	int fd, rc = -1;

	if (keys_load(a, args->keys.texts, args->keys.n, &o.keys, e))
		goto out;
	fd = open(args->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		err_errno(e, &err_not_found, "cannot read %s", args->file);
		goto out;
	}
	rc = manifest_check(fd, &o, r, e);
	progress_end();
	close(fd);
out:
	arena_free(a);
	return rc;
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--key") == 0)
		return key_option(argc, argv, i, &args->keys);
	if (strcmp(name, "--json") == 0)
		return args->json = true;
	if (name[0] != '-' && !args->file)
		return (args->file = name) != NULL;
	usage_error("%s is not understood; see probity-audit check-manifest "
		    "--help",
	    name);
	return false;
}

static int
run(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct manifest_report r;
	struct err e = { 0 };

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			return EXIT_USAGE;
	if (!args.file || args.keys.n == 0)
		return usage_error("check-manifest needs a file and --key; see "
				   "probity-audit check-manifest --help");
	if (check(&args, &r, &e))
		return not_done(&e);
	if (args.json)
		manifest_report_write_json(stdout, &r);
	else
		manifest_report_write(stdout, &r);
	return r.good ? EXIT_GOOD : EXIT_BAD;
}

const struct command command_check_manifest = {
	.name = "check-manifest",
	.summary = "Check a lineage manifest, without a repository or a "
		   "network",
	.arguments = "FILE --key KEY [--json]",
	.options =
	    "  FILE       the DSSE envelope, or the service's reply that holds "
	    "it\n"
	    "  --key KEY  the ledger's public key, pinned: a file or the key "
	    "itself\n"
	    "             (OpenSSH line, PEM, or signed-note verifier key); may be "
	    "repeated:\n"
	    "             any of them may be in the manifest's history\n"
	    "  --json     the verdict as one JSON object\n\n"
	    "What the envelope holds is decoded to a file without a name in "
	    "$TMPDIR (or /tmp), which\nneeds three quarters of FILE's size; "
	    "the memory needed does not grow with it.\n",
	.run = run,
};
