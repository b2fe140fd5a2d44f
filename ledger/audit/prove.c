#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "ledger/audit/audit.h"
#include "ledger/audit/path.h"
#include "ledger/audit/progress.h"
#include "ledger/audit/prove_keys.h"
#include "ledger/base/io.h"
#include "ledger/chain/evidence.h"
#include "ledger/chain/signers.h"

struct arguments {
	const char *repo, *file;
	uint64_t seq, size;
	bool has_seq, has_size, bare;
};

struct commit_item {
	struct oid oid;
	struct digest signers;
	struct commit_item *next;
};

/* What is put together, batch by batch from the first. */
struct making {
	const struct arguments *args;
	struct arena *a, *batch; /* the latter is reset for each batch */
	struct walk walk;
	struct commit_item *commits;
	uint64_t size;    /* of the checkpoint that is used */
	uint64_t newest;  /* the ledger's */
	uint64_t counted; /* events so far */
	struct path *path;
	struct prove_keys keys;
	struct str line, checkpoint;
};

/* Lists the batches up to the checkpoint that covers the size asked for. */
static int
list_commits(struct making *m, struct err *e)
{
	struct commit_item *item, *first = NULL;
	uint64_t wanted = m->args->size;
	struct trailers t;
	struct commit c;
	int rc;

	while ((rc = walk_next(&m->walk, m->batch, &c, &t, e)) > 0) {
		if (!first)
			m->newest = t.size;
		if (!first || (m->args->has_size && t.size >= wanted)) {
			m->size = t.size;
			first = NULL;
		}
		item = ARENA_NEW(m->a, struct commit_item);
		item->oid = c.oid;
		item->signers = t.signers;
		item->next = first;
		first = item;
		arena_reset(m->batch);
	}
	m->commits = first;
	return rc;
}

static int
check_numbers(const struct making *m, struct err *e)
{
	const struct arguments *args = m->args;

	if (args->has_size && args->size > m->newest)
		return err_set(e, &err_usage,
		    "the ledger has %" PRIu64 " events; --size is at most that",
		    m->newest);
	if (args->seq >= m->newest)
		return err_set(e, &err_not_found,
		    "there is no event %" PRIu64 "; the ledger has %" PRIu64,
		    args->seq, m->newest);
	if (args->seq >= m->size)
		return err_set(e, &err_usage,
		    "event %" PRIu64 " is not among the first %" PRIu64
		    "; give a larger --size",
		    args->seq, m->size);
	return 0;
}

/* Few batches change the keys: those are read once more. */
static int
read_keys(struct making *m, struct err *e)
{
	const struct commit_item *before = m->commits, *at;

	assert(before); /* check_numbers found that there are events */
	if (prove_keys_open(&m->keys, m->walk.repo, before->oid, m->a, e))
		return -1;
	for (at = before->next; at; before = at, at = at->next)
		if (!digest_eq(at->signers, before->signers) &&
		    prove_keys_follow(&m->keys, m->walk.repo, at->oid, m->a, e))
			return -1;
	prove_keys_begin(&m->keys, m->size, m->a);
	return 0;
}

static int
take_line(struct making *m, const struct batch_line *line, struct err *e)
{
	if (m->counted == m->size)
		return err_set(e, &err_corrupt,
		    "there are more events than the checkpoint's %" PRIu64,
		    m->size);
	if (m->counted == m->args->seq)
		m->line = arena_str(m->a, line->whole);
	prove_keys_take(
	    &m->keys, m->counted, line->whole, merkle_leaf(line->event), m->a);
	path_add(m->path, merkle_leaf(line->event));
	m->counted++;
	return 0;
}

static int
read_batch(struct making *m, const struct commit_item *item, struct err *e)
{
	uint64_t before = m->counted, step = m->size / 200 + 1;
	struct batch_line line;
	struct batch b;
	int more;

	arena_reset(m->batch);
	if (batch_read(m->walk.repo, item->oid, m->batch, &b, e))
		return -1;
	while ((more = batch_line_next(&b.events, &line, e)) > 0)
		if (take_line(m, &line, e))
			return -1;
	if (before / step != m->counted / step)
		progress_show(NULL, m->counted, m->size);
	if (!item->next)
		m->checkpoint = arena_str(m->a, b.checkpoint);
	return more;
}

static int
read_events(struct making *m, struct err *e)
{
	int rc = 0;

	m->path = path_new(m->a, m->args->seq, m->size);
	for (const struct commit_item *at = m->commits; at && rc == 0;
	     at = at->next)
		rc = read_batch(m, at, e);
	progress_end();
	if (rc == 0 && m->counted != m->size)
		return err_set(e, &err_corrupt,
		    "there are %" PRIu64
		    " events where the checkpoint has %" PRIu64,
		    m->counted, m->size);
	return rc;
}

/* The path is checked against the checkpoint here too; but a root that differs
 * is the ledger's fault, not the path's, and is to be called that. */
static int
compare_root(const struct making *m, struct err *e)
{
	struct checkpoint c;
	struct note note;

	if (note_parse(m->a, m->checkpoint, &note, e) ||
	    checkpoint_parse(note.text, &c, e))
		return -1;
	if (c.size != m->size || !digest_eq(c.root, path_root(m->path)))
		return err_set(e, &err_corrupt,
		    "the checkpoint of %" PRIu64
		    " events is not that of the ledger's events",
		    m->size);
	return 0;
}

/* Writes nothing that a reader would refuse. */
static int
make_file(struct making *m, struct buf *proof, struct buf *whole, struct err *e)
{
	struct tlog_proof p = { .index = m->args->seq,
		.checkpoint = m->checkpoint };
	struct evidence ev = { m->keys.signers.origin, m->line, STR_NONE,
		m->keys.keys, m->keys.n };
	struct evidence_shown shown;

	prove_keys_finish(&m->keys, m->checkpoint, m->a);
	path_proof(m->path, &p.path);
	tlog_proof_add(proof, &p);
	ev.proof = buf_str(proof);
	return evidence_check(m->a, &ev, NULL, &shown, e) ||
		       evidence_add(whole, &ev, e)
		   ? -1
		   : 0;
}

static int
write_out(const struct making *m, struct str bytes, struct err *e)
{
	if (!m->args->file) {
		fwrite(bytes.p, 1, bytes.n, stdout);
		return 0;
	}
	if (io_write_file(m->args->file, bytes, 0644, e))
		return -1;
	printf("Event %" PRIu64 " of %" PRIu64 " is proved in %s.\n",
	    m->args->seq, m->size, m->args->file);
	return 0;
}

static int
prove(struct making *m, struct err *e)
{
	struct buf proof, whole;
	int rc = -1;

	if (list_commits(m, e) || check_numbers(m, e) || read_keys(m, e) ||
	    read_events(m, e) || compare_root(m, e))
		return -1;
	buf_init(&proof, EVIDENCE_MAX);
	buf_init(&whole, EVIDENCE_MAX);
	if (make_file(m, &proof, &whole, e) == 0)
		rc = write_out(m, buf_str(m->args->bare ? &proof : &whole), e);
	buf_fini(&proof);
	buf_fini(&whole);
	return rc;
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--size") == 0) {
		args->has_size = true;
		return option_number(argc, argv, i, &args->size);
	}
	if (strcmp(name, "-o") == 0)
		return (args->file = option_value(argc, argv, i)) != NULL;
	if (strcmp(name, "--tlog-proof") == 0)
		return args->bare = true;
	if (strcmp(name, "--evidence") == 0)
		return !(args->bare = false);
	if (name[0] != '-' && !args->repo)
		return (args->repo = name) != NULL;
	if (!args->has_seq && str_to_u64(str_from(name), &args->seq))
		return args->has_seq = true;
	usage_error(
	    "%s is not understood; see probity-audit prove --help", name);
	return false;
}

static int
run(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct making m = { .args = &args };
	struct err e = { 0 };
	int rc = EXIT_GOOD;

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			return EXIT_USAGE;
	if (!args.has_seq)
		return usage_error("prove needs a repository and an event's "
				   "number; see probity-audit prove --help");
	if (walk_open(&m.walk, args.repo, &e))
		return not_done(&e);
	m.a = arena_new();
	m.batch = arena_new();
	if (prove(&m, &e)) {
		rc = not_done(&e);
		if (e.kind == &err_corrupt || e.kind == &err_malformed)
			rc = EXIT_BAD;
	}
	arena_free(m.batch);
	arena_free(m.a);
	walk_close(&m.walk);
	return rc;
}

const struct command command_prove = {
	.name = "prove",
	.summary = "Make a file that proves one event to anybody, without the "
		   "ledger",
	.arguments = "REPO SEQ [OPTION …]",
	.options =
	    "  --evidence    the event with its proof and the ledger's key, as "
	    "JSON; the default\n"
	    "  --tlog-proof  the proof alone, as C2SP tlog-proof\n"
	    "  --size N      against the first checkpoint of N events or more; "
	    "default: the\n"
	    "                newest\n"
	    "  -o FILE       write it there; default: standard output\n\n"
	    "Reads every batch up to the checkpoint once and keeps 32 bytes "
	    "of each in memory,\nof the events nothing. The ledger is not "
	    "verified: use verify for that.\n",
	.run = run,
};
