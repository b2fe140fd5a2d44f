#include <string.h>

#include "ledger/audit/audit.h"

typedef unsigned long long ull;

struct arguments {
	const char *repo, *key;
	bool has_seq, json;
	uint64_t seq;
};

/* What proves an event. */
struct shown {
	struct batch batch;
	struct batch_line line;
	struct event event;
	const char *signature; /* NULL: no key was given */
};

static int
find_event(struct arena *a, uint64_t seq, struct shown *s, struct err *e)
{
	struct str rest = s->batch.events;
	int more;

	while ((more = batch_line_next(&rest, &s->line, e)) > 0) {
		if (event_parse(a, s->line.event, &s->event, e))
			return -1;
		if (s->event.seq == seq)
			return 0;
	}
	return more < 0 ? -1
			: err_set(e, &err_corrupt,
			      "event %llu is not in the batch where it belongs",
			      (ull)seq);
}

static int
check_signature(
    struct arena *a, const char *key_text, struct shown *s, struct err *e)
{
	struct public_key key;
	struct signature sig;

	if (!key_text)
		return 0;
	if (key_load(a, key_text, &key, e))
		return -1;
	if (!batch_line_signature(
		&s->line, note_key_id(s->event.ledger, key), &sig))
		s->signature = "missing";
	else
		s->signature =
		    ed25519_verify(key, s->line.event, sig) ? "good" : "bad";
	return 0;
}

static int
read_event(struct arena *a, const struct arguments *args, struct shown *s,
    struct err *e)
{
	struct arena *scratch = arena_new();
	struct walk w;
	struct oid commit;
	int rc = -1;

	if (walk_open(&w, args->repo, e))
		goto out;
	if (!walk_find(&w, scratch, args->seq, &commit, e) &&
	    !batch_read(w.repo, commit, a, &s->batch, e) &&
	    !find_event(a, args->seq, s, e))
		rc = check_signature(a, args->key, s, e);
	walk_close(&w);
out:
	arena_free(scratch);
	return rc;
}

static void
write_json(struct arena *a, const struct shown *s)
{
	char hash[DIGEST_HEX + 1], oid[OID_HEX + 1];
	struct json *v = json_object(a);

	digest_hex(s->event.hash, hash);
	oid_hex(s->batch.commit.oid, oid);
	json_put_int(a, v, "seq", (int64_t)s->event.seq);
	json_put_str(a, v, "hash", str_from(hash));
	json_put_str(a, v, "signatures", s->line.signatures);
	json_put_str(a, v, "signature", str_from(s->signature));
	json_put_str(a, v, "commit", str_from(oid));
	json_put_str(a, v, "checkpoint", s->batch.checkpoint);
	/* The event is JSON already, and its bytes are what is signed. */
	json_put_str(a, v, "event", s->line.event);
	print_json(stdout, v);
}

static void
write_text(const struct shown *s)
{
	char hash[DIGEST_HEX + 1], oid[OID_HEX + 1];

	digest_hex(s->event.hash, hash);
	oid_hex(s->batch.commit.oid, oid);
	printf("event      %llu\nhash       %s\nsignature  %s\ncommit     %s\n"
	       "\n%.*s\n\n%.*s",
	    (ull)s->event.seq, hash,
	    s->signature ? s->signature : "not checked; give --key", oid,
	    STR_ARGS(s->line.whole), STR_ARGS(s->batch.checkpoint));
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--key") == 0)
		return (args->key = option_value(argc, argv, i)) != NULL;
	if (strcmp(name, "--json") == 0)
		return args->json = true;
	if (name[0] != '-' && !args->repo)
		return (args->repo = name) != NULL;
	if (!args->has_seq && str_to_u64(str_from(name), &args->seq))
		return args->has_seq = true;
	usage_error(
	    "%s is not understood; see probity-audit show --help", name);
	return false;
}

static int
run(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct shown s = { 0 };
	struct err e = { 0 };
	struct arena *a;
	int rc;

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			return EXIT_USAGE;
	if (!args.has_seq)
		return usage_error("show needs a repository and an event's "
				   "number; see probity-audit show --help");
	a = arena_new();
	rc = EXIT_GOOD;
	if (read_event(a, &args, &s, &e))
		rc = not_done(&e);
	else if (args.json)
		write_json(a, &s);
	else
		write_text(&s);
	if (s.signature && strcmp(s.signature, "good") != 0)
		rc = EXIT_BAD;
	arena_free(a);
	return rc;
}

const struct command command_show = {
	.name = "show",
	.summary = "Show one event with what proves it: line, commit, "
		   "checkpoint",
	.arguments = "REPO SEQ [OPTION …]",
	.options =
	    "  --key KEY  check the event's signature with this public key\n"
	    "  --json     one JSON object; its member event holds the exact "
	    "bytes\n",
	.run = run,
};
