#include <inttypes.h>
#include <string.h>

#include "ledger/audit/show_signature.h"

typedef unsigned long long ull;

struct arguments {
	const char *repo;
	struct key_options keys;
	bool has_seq, json;
	uint64_t seq;
};

/* What proves an event. */
struct shown {
	struct batch batch;
	struct batch_line line;
	struct event event;
	struct show_signature signature;
	const struct evidence_void *revoked; /* NULL: it is not void */
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
check_signature(struct arena *a, const struct arguments *args, struct shown *s,
    struct err *e)
{
	struct pinned keys;

	if (keys_load(a, args->keys.texts, args->keys.n, &keys, e))
		return -1;
	return show_signature(
	    &s->signature, args->repo, &keys, &s->line, &s->event, e);
}

static void
find_revocation(struct arena *a, const struct revocations *all, struct shown *s)
{
	const struct evidence_void *found = revocations_find(all, s->event.seq);
	struct evidence_void *copy;

	if (!found)
		return;
	copy = ARENA_NEW(a, struct evidence_void);
	*copy = *found;
	s->revoked = copy;
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
		rc = check_signature(a, args, s, e);
	find_revocation(a, &w.revocations, s);
	walk_close(&w);
out:
	arena_free(scratch);
	return rc;
}

/* That of the line's first signature. */
static struct str
key_id_text(struct arena *a, const struct shown *s)
{
	uint32_t key_id;

	if (!batch_line_key_id(&s->line, &key_id))
		return STR_NONE;
	return arena_strf(a, "%08x", key_id);
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
	json_put_str(a, v, "signature", str_from(s->signature.verdict));
	json_put_str(a, v, "reason",
	    s->signature.reason[0] ? str_from(s->signature.reason) : STR_NONE);
	json_put_str(a, v, "key_id", key_id_text(a, s));
	json_put(v, "void", json_bool(a, s->revoked));
	json_put_str(a, v, "commit", str_from(oid));
	json_put_str(a, v, "checkpoint", s->batch.checkpoint);
	/* The event is JSON already, and its bytes are what is signed. */
	json_put_str(a, v, "event", s->line.event);
	print_json(stdout, v);
}

static void
write_signature(struct arena *a, const struct shown *s)
{
	const struct show_signature *is = &s->signature;

	printf("signature  %s",
	    is->verdict ? is->verdict : "not checked; give --key");
	if (is->followed)
		printf(", by key id %.*s, to which the ledger leads from the "
		       "key given",
		    STR_ARGS(key_id_text(a, s)));
	if (is->reason[0])
		fputs(": ", stdout);
	print_plain(stdout, str_from(is->reason));
	putchar('\n');
	if (s->revoked)
		printf("void       event %" PRIu64
		       " revokes the key from event %" PRIu64 " on\n",
		    s->revoked->to + 1, s->revoked->from);
}

static void
write_text(struct arena *a, const struct shown *s)
{
	char hash[DIGEST_HEX + 1], oid[OID_HEX + 1];

	digest_hex(s->event.hash, hash);
	oid_hex(s->batch.commit.oid, oid);
	printf("event      %llu\nhash       %s\n", (ull)s->event.seq, hash);
	write_signature(a, s);
	printf("commit     %s\n\n%.*s\n\n%.*s", oid, STR_ARGS(s->line.whole),
	    STR_ARGS(s->batch.checkpoint));
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--key") == 0)
		return key_option(argc, argv, i, &args->keys);
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
		write_text(a, &s);
	if (s.signature.verdict && strcmp(s.signature.verdict, "good") != 0)
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
	    "  --key KEY  check the event's signature by this public key, or by "
	    "one that the ledger\n"
	    "             leads to from it; may be repeated\n"
	    "  --json     one JSON object; its member event holds the exact "
	    "bytes\n",
	.run = run,
};
