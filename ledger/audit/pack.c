#include "ledger/store/pack.h"

#include <string.h>

#include "ledger/audit/audit.h"
#include "ledger/base/io.h"
#include "ledger/store/pack_read.h"

struct arguments {
	const char *repo, *file;
	bool has_seq;
	uint64_t seq;
};

static int
write_out(const struct arguments *args, struct str bytes, struct err *e)
{
	if (!args->file) {
		fwrite(bytes.p, 1, bytes.n, stdout);
		return 0;
	}
	if (io_write_file(args->file, bytes, 0644, e))
		return -1;
	printf("The batch that holds event %llu is in %s.\n",
	    (unsigned long long)args->seq, args->file);
	return 0;
}

static int
pack(const struct arguments *args, struct err *e)
{
	struct arena *a = arena_new();
	struct oid commit;
	struct str bytes;
	struct walk w;
	int rc = -1;

	if (walk_open(&w, args->repo, e))
		goto out;
	if (!walk_find(&w, a, args->seq, &commit, e) &&
	    !pack_commit(w.repo, commit, PACK_READ_MAX, a, &bytes, e))
		rc = write_out(args, bytes, e);
	walk_close(&w);
out:
	arena_free(a);
	return rc;
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "-o") == 0)
		return (args->file = option_value(argc, argv, i)) != NULL;
	if (name[0] != '-' && !args->repo)
		return (args->repo = name) != NULL;
	if (!args->has_seq && str_to_u64(str_from(name), &args->seq))
		return args->has_seq = true;
	usage_error(
	    "%s is not understood; see probity-audit pack --help", name);
	return false;
}

static int
run(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct err e = { 0 };

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			return EXIT_USAGE;
	if (!args.has_seq)
		return usage_error("pack needs a repository and an event's "
				   "number; see probity-audit pack --help");
	return pack(&args, &e) ? not_done(&e) : EXIT_GOOD;
}

const struct command command_pack = {
	.name = "pack",
	.summary = "Make a git pack of the batch that holds an event",
	.arguments = "REPO SEQ [-o FILE]",
	.options =
	    "  -o FILE  write it there; default: standard output\n\n"
	    "The pack holds the whole batch, up to 256 events and their "
	    "payloads: prove shows one\nevent alone. Stock git reads it with "
	    "git unpack-objects, check-proof checks it.\n",
	.run = run,
};
