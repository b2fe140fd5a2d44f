#include <stdlib.h>
#include <string.h>

#include "ledger/audit/audit.h"
#include "ledger/audit/complete_report.h"

#define FILES_MAX 10000

struct arguments {
	struct key_options keys;
	const char **files;
	size_t n;
	bool json;
};

/* What is wrong with the files' content is a verdict, not a failure. */
static int
check(struct arena *a, const struct arguments *args, struct complete_verdict *v,
    struct err *e)
{
	struct complete_file *files = arena_array(a, args->n, sizeof *files);
	struct pinned keys;

	v->reason = e->detail;
	if (keys_load(a, args->keys.texts, args->keys.n, &keys, e))
		return -1;
	for (size_t i = 0; i < args->n; i++)
		if (complete_read(
			a, args->files[i], &keys, &files[i], &v->fault, e))
			return v->fault.check ? 0 : -1;
	if (complete_compare(files, args->n, &v->shown, &v->fault, e))
		return v->fault.check ? 0 : -1;
	v->good = true;
	return 0;
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--key") == 0)
		return key_option(argc, argv, i, &args->keys);
	if (strcmp(name, "--json") == 0)
		return args->json = true;
	if (name[0] != '-' && args->n < FILES_MAX) {
		args->files[args->n++] = name;
		return true;
	}
	usage_error("%s is not understood; see probity-audit check-complete "
		    "--help",
	    name);
	return false;
}

static int
run(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct arguments args = { .files = arena_array(
				      a, (size_t)argc, sizeof *args.files) };
	struct complete_verdict v = { 0 };
	struct err e = { 0 };
	int rc = EXIT_USAGE;

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			goto out;
	if (args.n == 0 || args.keys.n == 0) {
		usage_error("check-complete needs a file and --key; see "
			    "probity-audit check-complete --help");
	} else if (check(a, &args, &v, &e)) {
		rc = not_done(&e);
	} else {
		if (args.json)
			complete_report_write_json(stdout, a, &v);
		else
			complete_report_write(stdout, a, &v);
		rc = v.good ? EXIT_GOOD : EXIT_BAD;
	}
out:
	arena_free(a);
	return rc;
}

const struct command command_check_complete = {
	.name = "check-complete",
	.summary = "Check that a list asked with proof=complete leaves nothing "
		   "out, without a repository or a network",
	.arguments = "FILE … --key KEY [--json]",
	.options =
	    "  FILE …        the service's reply; of a list of several pages "
	    "all, in order\n"
	    "  --key KEY     the ledger's public key, pinned: a file or the "
	    "key itself; may be\n"
	    "                repeated: any of them may have signed a reply's "
	    "commit\n"
	    "  --json        the verdict as one JSON object\n",
	.run = run,
};
