/*
 * A signed checkpoint as a file, with what others said of it: cosignatures of
 * witnesses, and the time-stamp of an authority. No repository, no network.
 */
#include <string.h>

#include "ledger/audit/audit.h"
#include "ledger/base/io.h"
#include "ledger/codec/json.h"
#include "ledger/crypto/cosignature.h"
#include "ledger/crypto/timestamp.h"

#define WITNESSES_MAX 16
#define CA_MAX        (1u << 20)

struct arguments {
	const char *file, *timestamp, *ca;
	struct key_options keys;
	const char *witnesses[WITNESSES_MAX];
	size_t n_witnesses;
	uint64_t enough; /* 0: all */
	bool json;
};

struct said {
	struct witness_key witness;
	bool good;
	struct instant at;
};

struct verdict {
	const char *check; /* that failed; NULL: good */
	struct err why;
	struct checkpoint checkpoint;
	struct said said[WITNESSES_MAX];
	size_t n, good;
	bool stamped;
	struct timestamp stamp;
};

static bool
add_witness(struct arguments *args, const char *text)
{
	if (text && args->n_witnesses == WITNESSES_MAX) {
		usage_error("at most %d witnesses", WITNESSES_MAX);
		return false;
	}
	if (text)
		args->witnesses[args->n_witnesses++] = text;
	return text != NULL;
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--key") == 0)
		return key_option(argc, argv, i, &args->keys);
	if (strcmp(name, "--witness") == 0)
		return add_witness(args, option_value(argc, argv, i));
	if (strcmp(name, "--enough") == 0)
		return option_number(argc, argv, i, &args->enough);
	if (strcmp(name, "--timestamp") == 0)
		return (args->timestamp = option_value(argc, argv, i)) != NULL;
	if (strcmp(name, "--ca") == 0)
		return (args->ca = option_value(argc, argv, i)) != NULL;
	if (strcmp(name, "--json") == 0)
		return args->json = true;
	if (name[0] != '-' && !args->file)
		return (args->file = name) != NULL;
	usage_error("%s is not understood; see probity-audit check-checkpoint "
		    "--help",
	    name);
	return false;
}

static bool
are_whole(const struct arguments *args)
{
	if (!args->file || args->keys.n == 0)
		usage_error("check-checkpoint needs a file and --key; see "
			    "probity-audit check-checkpoint --help");
	else if (!args->timestamp != !args->ca)
		usage_error("--timestamp and --ca go together");
	else if (args->enough > args->n_witnesses)
		usage_error("--enough asks for more witnesses than are named");
	else
		return true;
	return false;
}

static int
failed(struct verdict *v, const char *check)
{
	v->check = check;
	return 1;
}

static int
check_note(struct arena *a, const struct arguments *args, struct str bytes,
    struct note *note, struct verdict *v, struct err *e)
{
	struct public_key key;
	struct pinned keys;

	if (keys_load(a, args->keys.texts, args->keys.n, &keys, e))
		return -1;
	if (note_parse(a, note_kept(bytes), note, &v->why) ||
	    checkpoint_parse(note->text, &v->checkpoint, &v->why))
		return failed(v, "format");
	if (pinned_of_note(&keys, note, v->checkpoint.origin, &key, &v->why))
		return failed(v, "checkpoint");
	return 0;
}

static int
check_witnesses(struct arena *a, const struct arguments *args,
    const struct note *note, struct verdict *v, struct err *e)
{
	uint64_t enough = args->enough ? args->enough : args->n_witnesses;
	struct str line;

	for (v->n = 0; v->n < args->n_witnesses; v->n++) {
		struct said *said = &v->said[v->n];

		if (witness_key_parse(
			str_from(args->witnesses[v->n]), &said->witness, e)) {
			e->kind = &err_usage;
			return -1;
		}
		said->good = cosignature_verify(
		    note, &said->witness, a, &line, &said->at);
		v->good += said->good;
	}
	if (v->good >= enough)
		return 0;
	err_set(&v->why, &err_corrupt,
	    "%zu of %zu witnesses cosigned it, %llu have to", v->good, v->n,
	    (unsigned long long)enough);
	return failed(v, "cosignature");
}

/*
 * What was stamped is the note as it left the ledger, with its one signature:
 * cosignatures came later.
 */
static struct str
without_cosignatures(struct str bytes)
{
	size_t blank = 1, end;

	while (blank < bytes.n &&
	       !(bytes.p[blank - 1] == '\n' && bytes.p[blank] == '\n'))
		blank++;
	for (end = blank + 1; end < bytes.n && bytes.p[end] != '\n';)
		end++;
	return str_slice(bytes, 0, end < bytes.n ? end + 1 : bytes.n);
}

static int
check_timestamp(struct arena *a, const struct arguments *args, struct str bytes,
    struct verdict *v, struct err *e)
{
	struct str token, ca;

	if (!args->timestamp)
		return 0;
	if (io_read_file(a, args->timestamp, TIMESTAMP_MAX, &token, e) ||
	    io_read_file(a, args->ca, CA_MAX, &ca, e))
		return -1;
	v->stamped = true;
	if (timestamp_verify(sha256(without_cosignatures(bytes)), token, ca, a,
		&v->stamp, &v->why) == 0)
		return 0;
	if (v->why.kind == &err_malformed)
		return failed(v, "timestamp");
	return err_set(e, &err_usage, "%s: %s", args->ca, v->why.detail);
}

static int
check(struct arena *a, const struct arguments *args, struct verdict *v,
    struct err *e)
{
	struct str bytes;
	struct note note;
	int rc;

	if (io_read_file(a, args->file, NOTE_MAX, &bytes, e))
		return -1;
	rc = check_note(a, args, bytes, &note, v, e);
	if (!rc)
		rc = check_witnesses(a, args, &note, v, e);
	if (!rc)
		rc = check_timestamp(a, args, bytes, v, e);
	return rc < 0 ? -1 : 0;
}

static void
write_said(const struct said *said)
{
	char at[INSTANT_TEXT + 1];

	instant_format(said->at, at);
	printf("  witness  %.*s %s\n", STR_ARGS(said->witness.name),
	    said->good ? at : "did not");
}

static void
write_verdict(const struct verdict *v)
{
	char root[DIGEST_HEX + 1], at[INSTANT_TEXT + 1];

	if (v->check) {
		fault_write(stdout,
		    &(struct fault){ v->check, v->why.detail, false, 0 });
		return;
	}
	digest_hex(v->checkpoint.root, root);
	printf("Good: the ledger signed it at %llu events.\n"
	       "  ledger   %.*s\n  root     %s\n",
	    (unsigned long long)v->checkpoint.size,
	    STR_ARGS(v->checkpoint.origin), root);
	for (size_t i = 0; i < v->n; i++)
		write_said(&v->said[i]);
	if (!v->stamped)
		return;
	instant_format(v->stamp.gen_time, at);
	printf("  stamped  %s\n", at);
}

static struct json *
said_json(struct arena *a, const struct verdict *v)
{
	struct json *list = json_array(a);
	char at[INSTANT_TEXT + 1];

	for (size_t i = 0; i < v->n; i++) {
		struct json *one = json_object(a);

		instant_format(v->said[i].at, at);
		json_put_str(a, one, "witness", v->said[i].witness.name);
		json_put(one, "at",
		    v->said[i].good ? json_string(a, arena_str(a, str_from(at)))
				    : json_null(a));
		json_push(list, one);
	}
	return list;
}

static void
write_json(struct arena *a, const struct verdict *v)
{
	struct json *out = json_object(a), *why = json_null(a);
	char root[DIGEST_HEX + 1], at[INSTANT_TEXT + 1];

	json_put(out, "good", json_bool(a, !v->check));
	if (!v->check) {
		digest_hex(v->checkpoint.root, root);
		json_put_str(a, out, "ledger", v->checkpoint.origin);
		json_put_int(a, out, "size", (int64_t)v->checkpoint.size);
		json_put_str(a, out, "root", str_from(root));
		json_put(out, "witnesses", said_json(a, v));
		instant_format(v->stamp.gen_time, at);
		json_put(out, "stamped_at",
		    v->stamped ? json_string(a, str_from(at)) : json_null(a));
	} else {
		why = fault_json(a,
		    &(struct fault){ v->check, v->why.detail, false, 0 },
		    false);
	}
	json_put(out, "failed", why);
	print_json(stdout, out);
}

static int
run(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct verdict v = { 0 };
	struct err e = { 0 };
	struct arena *a;
	int rc;

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			return EXIT_USAGE;
	if (!are_whole(&args))
		return EXIT_USAGE;
	a = arena_new();
	if (check(a, &args, &v, &e)) {
		rc = not_done(&e);
	} else {
		if (args.json)
			write_json(a, &v);
		else
			write_verdict(&v);
		rc = v.check ? EXIT_BAD : EXIT_GOOD;
	}
	arena_free(a);
	return rc;
}

const struct command command_check_checkpoint = {
	.name = "check-checkpoint",
	.summary = "Check a signed checkpoint, its cosignatures and its "
		   "time-stamp",
	.arguments = "FILE --key KEY [OPTION …]",
	.options =
	    "  --key KEY         the ledger's public key, pinned: a file or the "
	    "key itself; may be\n"
	    "                    repeated: any of them may have signed it\n"
	    "  --witness KEY     a witness that has to have cosigned it, as "
	    "name+hash+key; may be\n"
	    "                    repeated\n"
	    "  --enough N        so many of them suffice; default: all\n"
	    "  --timestamp FILE  the time-stamping authority's answer (RFC "
	    "3161)\n"
	    "  --ca FILE         with it: certificates in PEM that are "
	    "trusted\n"
	    "  --json            the verdict as one JSON object\n",
	.run = run,
};
