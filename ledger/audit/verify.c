#include <string.h>

#include "ledger/audit/audit.h"
#include "ledger/audit/older.h"
#include "ledger/audit/progress.h"
#include "ledger/audit/report.h"
#include "ledger/base/io.h"

struct arguments {
	const char *repo, *checkpoint, *save;
	struct key_options keys;
	bool json;
	struct verify_options verify;
	struct older_ledgers older;
};

static bool
read_threads(int argc, char **argv, int *i, unsigned *out)
{
	uint64_t n;

	if (!option_number(argc, argv, i, &n))
		return false;
	*out = n < 64 ? (unsigned)n : 64;
	return true;
}

/* The closed ledgers. *taken: it was an option about them. */
static bool
read_older(int argc, char **argv, int *i, struct arguments *args, bool *taken)
{
	bool repo = strcmp(argv[*i], "--continues") == 0;
	bool key = strcmp(argv[*i], "--old-key") == 0;
	const char *value;

	*taken = repo || key;
	if (!*taken)
		return true;
	value = option_value(argc, argv, i);
	if (!value)
		return false;
	return repo ? older_add(&args->older, value)
		    : older_set_key(&args->older, value);
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];
	bool taken;

	if (!read_older(argc, argv, i, args, &taken))
		return false;
	if (taken)
		return true;
	if (strcmp(name, "--key") == 0)
		return key_option(argc, argv, i, &args->keys);
	if (strcmp(name, "--checkpoint") == 0)
		return (args->checkpoint = option_value(argc, argv, i)) != NULL;
	if (strcmp(name, "--save-checkpoint") == 0)
		return (args->save = option_value(argc, argv, i)) != NULL;
	if (strcmp(name, "--threads") == 0)
		return read_threads(argc, argv, i, &args->verify.threads);
	if (strcmp(name, "--from") == 0)
		return option_number(argc, argv, i, &args->verify.from_seq);
	if (strcmp(name, "--quick") == 0)
		return args->verify.quick = true;
	if (strcmp(name, "--json") == 0)
		return args->json = true;
	if (name[0] == '-' || args->repo) {
		usage_error("%s is not understood; see probity-audit verify "
			    "--help",
		    name);
		return false;
	}
	args->repo = name;
	return true;
}

static bool
read_arguments(int argc, char **argv, struct arguments *args)
{
	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, args))
			return false;
	if (args->older.n > 0 && args->verify.from_seq > 0) {
		usage_error("--continues needs event 0, which --from leaves "
			    "unchecked");
		return false;
	}
	if (args->repo && args->keys.n > 0)
		return true;
	usage_error("verify needs a repository and --key; see probity-audit "
		    "verify --help");
	return false;
}

static int
save(const struct arguments *args, const struct verify_report *r, struct err *e)
{
	if (!args->save || !r->good || r->empty || older_bad(&args->older))
		return 0;
	return io_write_file(args->save, str_from(r->checkpoint), 0644, e);
}

/* In a script that saves where it reads, there is none yet the first time. */
static int
load_kept(struct arena *a, const char *path, struct note *note,
    struct checkpoint *c, struct err *e)
{
	struct err why = { 0 };

	if (checkpoint_load(a, path, note, c, &why) == 0)
		return 0;
	return err_set(e, why.kind, "%s%s", why.detail,
	    why.kind == &err_not_found
		? "; the first time there is no checkpoint yet: leave out"
		  " --checkpoint and keep one by --save-checkpoint"
		: "");
}

static int
verify(struct arena *a, struct arguments *args, struct verify_report *r,
    struct err *e)
{
	struct verify_options *o = &args->verify;
	struct pinned keys;
	struct note note;
	int rc;

	if (keys_load(a, args->keys.texts, args->keys.n, &keys, e))
		return -1;
	o->key = keys.keys[0];
	o->more = (struct pinned){ keys.keys + 1, keys.n - 1 };
	if (args->checkpoint) {
		o->has_kept = true;
		o->kept_note = &note;
		if (load_kept(a, args->checkpoint, &note, &o->kept, e))
			return -1;
	}
	o->progress = progress_show;
	rc = verify_ledger(args->repo, o, r, e);
	progress_end();
	if (rc == 0)
		rc = older_verify(&args->older, a, o, r, e);
	return rc ? rc : save(args, r, e);
}

static int
run(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct arena *a = arena_new();
	struct verify_report r;
	struct err e = { 0 };
	int rc = EXIT_USAGE;

	if (!read_arguments(argc, argv, &args))
		goto out;
	if (verify(a, &args, &r, &e)) {
		rc = not_done(&e);
		goto out;
	}
	if (args.json)
		report_write_json(stdout, &r, &args.verify, &args.older);
	else
		report_write(stdout, &r, &args.verify, &args.older);
	rc = r.good && !older_bad(&args.older) ? EXIT_GOOD : EXIT_BAD;
out:
	arena_free(a);
	return rc;
}

const struct command command_verify = {
	.name = "verify",
	.summary = "Check a whole ledger: signatures, hashes, chain, Merkle "
		   "tree, payloads",
	.arguments = "REPO --key KEY [OPTION …]",
	.options =
	    "  --key KEY               the ledger's public key, pinned: a "
	    "file or the key itself\n"
	    "                          (OpenSSH line, PEM, or signed-note "
	    "verifier key); of several\n"
	    "                          the first that the ledger names; the "
	    "kept checkpoint may be by\n"
	    "                          any of them\n"
	    "  --checkpoint FILE       a signed checkpoint kept from before, "
	    "to be consistent with\n"
	    "  --save-checkpoint FILE  write the latest checkpoint of a good "
	    "ledger there\n"
	    "  --continues REPO        the closed ledger that this one "
	    "continues: checked whole, and that\n"
	    "                          each names the other; again for the "
	    "one before that\n"
	    "  --old-key KEY           its public key, after its "
	    "--continues; default: that of its event 0\n"
	    "  --quick                 neither the events' own signatures nor "
	    "payload contents\n"
	    "  --threads N             default: one per core\n"
	    "  --from SEQ              trust what comes before this event; "
	    "check the rest\n"
	    "  --json                  the verdict as one JSON object\n",
	.run = run,
};
