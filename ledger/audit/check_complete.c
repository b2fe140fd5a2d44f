#include <stdlib.h>
#include <string.h>

#include "ledger/audit/audit.h"
#include "ledger/audit/complete.h"

#define FILES_MAX 10000

typedef unsigned long long ull;

struct arguments {
	const char *key;
	const char **files;
	size_t n;
	bool json;
};

struct verdict {
	bool good;
	struct complete_shown shown;
	struct complete_fault fault;
	const char *reason;
};

/* What is wrong with the files' content is a verdict, not a failure. */
static int
check(struct arena *a, const struct arguments *args, struct verdict *v,
    struct err *e)
{
	struct complete_file *files = arena_array(a, args->n, sizeof *files);
	struct public_key key;

	v->reason = e->detail;
	if (key_load(a, args->key, &key, e))
		return -1;
	for (size_t i = 0; i < args->n; i++)
		if (complete_read(
			a, args->files[i], key, &files[i], &v->fault, e))
			return v->fault.check ? 0 : -1;
	if (complete_compare(files, args->n, &v->shown, &v->fault, e))
		return v->fault.check ? 0 : -1;
	v->good = true;
	return 0;
}

static struct str
text_of(struct arena *a, struct uid uid)
{
	char text[UID_TEXT + 1];

	if (uid_is_none(uid))
		return STR_NONE;
	uid_format(uid, text);
	return arena_str(a, str_from(text));
}

static struct str
hex_of(struct arena *a, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	return arena_str(a, str_from(hex));
}

static void
write_list(FILE *f, struct arena *a, const struct complete_shown *s)
{
	struct str after = text_of(a, s->first.after);
	struct str to = text_of(a, s->last.to);

	fprintf(f, "Good: these %llu are all records of kind %.*s",
	    (ull)s->records, STR_ARGS(s->last.kind));
	if (after.p)
		fprintf(f, " above %.*s", STR_ARGS(after));
	if (to.p)
		fprintf(f, " up to %.*s", STR_ARGS(to));
	fprintf(f, "\nin the ledger of %llu events.\n", (ull)s->size);
}

static void
write_text(FILE *f, struct arena *a, const struct verdict *v)
{
	const struct complete_shown *s = &v->shown;

	if (!v->good) {
		fault_write(
		    f, &(struct fault){ v->fault.check, v->reason, false, 0 });
		return;
	}
	if (uid_is_none(s->last.subject))
		write_list(f, a, s);
	else
		fprintf(f,
		    "Good: these %llu are all events about the %.*s %.*s\n"
		    "in the ledger of %llu events.\n",
		    (ull)s->records, STR_ARGS(s->last.kind),
		    STR_ARGS(text_of(a, s->last.subject)), (ull)s->size);
	fprintf(f, "  ledger   %.*s\n  index    %.*s\n",
	    STR_ARGS(s->last.origin), STR_ARGS(hex_of(a, s->last.root)));
}

static struct json *
shown_json(struct arena *a, const struct complete_shown *s)
{
	struct json *v = json_object(a);

	json_put_str(a, v, "ledger", s->last.origin);
	json_put_int(a, v, "size", (int64_t)s->size);
	json_put_str(a, v, "index", hex_of(a, s->last.root));
	json_put_str(a, v, "kind", s->last.kind);
	json_put_str(a, v, "subject", text_of(a, s->last.subject));
	json_put_str(a, v, "after", text_of(a, s->first.after));
	json_put_str(a, v, "to", text_of(a, s->last.to));
	json_put_int(a, v, "count", (int64_t)s->records);
	return v;
}

static struct json *
failed_json(struct arena *a, const struct verdict *v)
{
	return fault_json(
	    a, &(struct fault){ v->fault.check, v->reason, false, 0 }, false);
}

static void
write_json(FILE *f, struct arena *a, const struct verdict *v)
{
	struct json *o = json_object(a);
	struct buf b;

	json_put(o, "good", json_bool(a, v->good));
	json_put(o, "shown", v->good ? shown_json(a, &v->shown) : json_null(a));
	json_put(o, "failed", v->good ? json_null(a) : failed_json(a, v));
	buf_init(&b, 1u << 20);
	json_write(o, &b);
	fprintf(f, "%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--key") == 0)
		return (args->key = option_value(argc, argv, i)) != NULL;
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
	struct verdict v = { 0 };
	struct err e = { 0 };
	int rc = EXIT_USAGE;

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			goto out;
	if (args.n == 0 || !args.key) {
		usage_error("check-complete needs a file and --key; see "
			    "probity-audit check-complete --help");
	} else if (check(a, &args, &v, &e)) {
		rc = not_done(&e);
	} else {
		if (args.json)
			write_json(stdout, a, &v);
		else
			write_text(stdout, a, &v);
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
	    "key itself\n"
	    "  --json        the verdict as one JSON object\n",
	.run = run,
};
