#include <string.h>

#include "ledger/audit/audit.h"
#include "ledger/audit/check_pack.h"
#include "ledger/audit/proof_report.h"
#include "ledger/base/io.h"

#define PROOF_START "c2sp.org/tlog-proof@"

struct arguments {
	const char *file, *event;
	struct key_options keys;
	bool json;
};

static int
read_standard_input(struct arena *a, struct str *out, struct err *e)
{
	char *bytes = arena_alloc(a, EVIDENCE_MAX + 1);
	size_t n = fread(bytes, 1, EVIDENCE_MAX + 1, stdin);

	if (ferror(stdin))
		return err_errno(
		    e, &err_internal, "cannot read the standard input");
	if (n > EVIDENCE_MAX)
		return err_set(e, &err_too_large,
		    "the standard input is longer than %u bytes", EVIDENCE_MAX);
	*out = (struct str){ bytes, n };
	return 0;
}

static int
read_line(struct arena *a, const char *path, struct str *line, struct err *e)
{
	if (path ? io_read_file(a, path, EVIDENCE_MAX, line, e)
		 : read_standard_input(a, line, e))
		return -1;
	if (str_has_suffix(*line, STR("\n")))
		line->n--;
	return 0;
}

/* It holds neither event nor key: both have to be given. */
static int
check_tlog_proof(struct arena *a, const struct arguments *args,
    struct str proof, struct proof_report *r, struct err *e)
{
	struct str line;

	if (!r->pinned)
		return err_set(e, &err_usage,
		    "a tlog-proof holds no key: give the ledger's with --key");
	if (read_line(a, args->event, &line, e))
		return -1;
	r->good =
	    evidence_check_bare(a, line, proof, &r->keys, &r->shown, e) == 0;
	return 0;
}

/* What does not begin as a tlog-proof does may be one all the same that was
 * damaged: --event is wrong only beside an evidence file that can be read. */
static int
read_file(struct arena *a, const struct arguments *args, struct str bytes,
    struct evidence *ev, struct err *e)
{
	struct err why = { 0 };

	if (evidence_parse(a, bytes, ev, &why) == 0)
		return args->event
			   ? err_set(e, &err_usage,
				 "--event is for a tlog-proof; an evidence "
				 "file holds its event")
			   : 0;
	if (why.kind == &err_malformed &&
	    (args->event || !str_has_prefix(bytes, STR("{"))))
		return err_set(e, &err_malformed,
		    "neither an evidence file nor a tlog-proof, which begins "
		    "with " PROOF_START
		    "v1: the file is damaged, or another one");
	return err_set(e, why.kind, "%s", why.detail);
}

static int
check_evidence(struct arena *a, const struct arguments *args, struct str bytes,
    struct proof_report *r, struct err *e)
{
	struct evidence ev;

	if (read_file(a, args, bytes, &ev, e)) {
		r->shown.check = "format";
		return e->kind == &err_malformed ? 0 : -1;
	}
	r->good = evidence_check(
		      a, &ev, r->pinned ? &r->keys : NULL, &r->shown, e) == 0;
	return 0;
}

/* Whatever is wrong with the file's content is a verdict, not a failure. */
static int
check(struct arena *a, const struct arguments *args, struct proof_report *r,
    struct err *e)
{
	struct str bytes;

	r->pinned = args->keys.n > 0;
	r->reason = e->detail;
	if (keys_load(a, args->keys.texts, args->keys.n, &r->keys, e) ||
	    io_read_file(a, args->file, EVIDENCE_MAX, &bytes, e))
		return -1;
	return str_has_prefix(bytes, STR(PROOF_START))
		   ? check_tlog_proof(a, args, bytes, r, e)
		   : check_evidence(a, args, bytes, r, e);
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--key") == 0)
		return key_option(argc, argv, i, &args->keys);
	if (strcmp(name, "--event") == 0)
		return (args->event = option_value(argc, argv, i)) != NULL;
	if (strcmp(name, "--json") == 0)
		return args->json = true;
	if (name[0] != '-' && !args->file)
		return (args->file = name) != NULL;
	usage_error("%s is not understood; see probity-audit check-proof "
		    "--help",
	    name);
	return false;
}

static int
run(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct proof_report r = { 0 };
	struct err e = { 0 };
	struct arena *a;
	int rc;

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			return EXIT_USAGE;
	if (!args.file)
		return usage_error("check-proof needs a file; see "
				   "probity-audit check-proof --help");
	if (check_pack_is_one(args.file))
		return check_pack(args.file, &args.keys, args.json);
	a = arena_new();
	if (check(a, &args, &r, &e)) {
		rc = not_done(&e);
	} else {
		if (args.json)
			proof_report_write_json(stdout, a, &r);
		else
			proof_report_write(stdout, &r);
		rc = r.good ? EXIT_GOOD : EXIT_BAD;
	}
	arena_free(a);
	return rc;
}

const struct command command_check_proof = {
	.name = "check-proof",
	.summary = "Check an evidence file, a tlog-proof or a pack, without a "
		   "repository or a network",
	.arguments = "FILE [OPTION …]",
	.options =
	    "  --key KEY     the ledger's public key, pinned: a file or the "
	    "key itself. Without it\n"
	    "                the key in the file is used, and its fingerprint "
	    "printed to be compared.\n"
	    "                May be repeated: a tlog-proof of before a change of "
	    "the key needs the keys\n"
	    "                before and after it\n"
	    "  --event FILE  for a tlog-proof: the event's line, as show "
	    "prints it; default:\n"
	    "                standard input\n"
	    "  --json        the verdict as one JSON object\n",
	.run = run,
};
