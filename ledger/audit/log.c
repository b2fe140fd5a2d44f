#include <string.h>

#include "ledger/audit/audit.h"

#define LIMIT 20

typedef unsigned long long ull;

struct arguments {
	const char *repo, *type;
	uint64_t limit, after;
	bool has_after, json;
};

/* Commits to list, with what is needed to choose among their events. */
struct list {
	const struct arguments *args;
	const struct walk *walk;
	struct arena *batch; /* reset for each batch */
	uint64_t left;       /* events still to be shown */
};

static void
show_json(
    struct arena *a, const struct event *ev, struct oid commit, bool is_void)
{
	struct json *v = json_object(a), *subject = json_object(a),
		    *actor = json_object(a);
	char uid[UID_TEXT + 1], at[INSTANT_TEXT + 1], hash[DIGEST_HEX + 1],
	    oid[OID_HEX + 1];

	uid_format(ev->subject, uid);
	instant_format(ev->at, at);
	digest_hex(ev->hash, hash);
	oid_hex(commit, oid);
	json_put_str(a, subject, "kind", ev->subject_kind);
	json_put_str(a, subject, "uid", str_from(uid));
	json_put_str(a, actor, "kind", ev->actor.kind);
	json_put_str(a, actor, "id", ev->actor.id);
	json_put_int(a, v, "seq", (int64_t)ev->seq);
	json_put_str(a, v, "at", str_from(at));
	json_put_str(a, v, "type", ev->type);
	json_put(v, "subject", subject);
	json_put(v, "actor", actor);
	json_put_str(a, v, "hash", str_from(hash));
	json_put_str(a, v, "commit", str_from(oid));
	json_put(v, "void", json_bool(a, is_void));
	print_json(stdout, v);
}

static void
show_text(struct arena *a, const struct event *ev, bool is_void)
{
	char uid[UID_TEXT + 1], at[INSTANT_TEXT + 1];
	const char *type = arena_printf(
	    a, "%.*s%s", STR_ARGS(ev->type), is_void ? " (void)" : "");

	uid_format(ev->subject, uid);
	instant_format(ev->at, at);
	printf("%8llu  %s  %-32s  %.*s %s  %.*s ", (ull)ev->seq, at, type,
	    STR_ARGS(ev->subject_kind), uid, STR_ARGS(ev->actor.kind));
	print_plain(stdout, ev->actor.id);
	putchar('\n');
}

static void
show_event(const struct list *l, const struct event *ev, struct oid commit)
{
	bool is_void = revocations_find(&l->walk->revocations, ev->seq) != NULL;

	if (l->args->json)
		show_json(l->batch, ev, commit, is_void);
	else
		show_text(l->batch, ev, is_void);
}

static bool
is_wanted(const struct list *l, const struct event *ev)
{
	return (!l->args->type || str_is(ev->type, l->args->type)) &&
	       (!l->args->has_after || ev->seq > l->args->after);
}

/* The batch's events: first to last when an `after` was given, else last to
 * first, as git log does. */
static int
show_batch(struct list *l, struct oid commit, struct err *e)
{
	struct event events[BATCH_EVENTS];
	struct batch_line line;
	struct batch b;
	size_t n = 0;
	int more;

	arena_reset(l->batch);
	if (batch_read(l->walk->repo, commit, l->batch, &b, e))
		return -1;
	while ((more = batch_line_next(&b.events, &line, e)) > 0) {
		if (n == BATCH_EVENTS)
			return err_set(e, &err_corrupt, "a batch is too large");
		if (event_parse(l->batch, line.event, &events[n++], e))
			return -1;
	}
	for (size_t i = 0; i < n && l->left > 0 && more == 0; i++) {
		const struct event *ev =
		    &events[l->args->has_after ? i : n - 1 - i];

		if (!is_wanted(l, ev))
			continue;
		show_event(l, ev, commit);
		l->left--;
	}
	return more;
}

static int
show_backwards(struct list *l, struct walk *w, struct err *e)
{
	struct trailers t;
	struct commit c;
	int rc = 1;

	while (l->left > 0 && rc > 0) {
		arena_reset(l->batch);
		rc = walk_next(w, l->batch, &c, &t, e);
		if (rc > 0 && show_batch(l, c.oid, e))
			rc = -1;
	}
	return rc < 0 ? -1 : 0;
}

/* Goes back to `after` first, then shows what was passed on the way. */
static int
show_forwards(struct list *l, struct walk *w, struct arena *a, struct err *e)
{
	struct passed {
		struct oid oid;
		struct passed *next;
	} *first = NULL, *p;
	struct trailers t;
	struct commit c;
	int rc;

	for (;;) {
		arena_reset(l->batch);
		rc = walk_next(w, l->batch, &c, &t, e);
		if (rc <= 0 || t.size <= l->args->after + 1)
			break;
		p = ARENA_NEW(a, struct passed);
		p->oid = c.oid;
		p->next = first;
		first = p;
	}
	for (p = first; p && rc >= 0 && l->left > 0; p = p->next)
		rc = show_batch(l, p->oid, e);
	return rc < 0 ? -1 : 0;
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--limit") == 0)
		return option_number(argc, argv, i, &args->limit);
	if (strcmp(name, "--after") == 0) {
		args->has_after = true;
		return option_number(argc, argv, i, &args->after);
	}
	if (strcmp(name, "--type") == 0)
		return (args->type = option_value(argc, argv, i)) != NULL;
	if (strcmp(name, "--json") == 0)
		return args->json = true;
	if (name[0] == '-' || args->repo) {
		usage_error(
		    "%s is not understood; see probity-audit log --help", name);
		return false;
	}
	args->repo = name;
	return true;
}

static int
show(const struct arguments *args, struct err *e)
{
	struct list l = { .args = args, .left = args->limit };
	struct arena *a;
	struct walk w;
	int rc;

	if (walk_open(&w, args->repo, e))
		return -1;
	a = arena_new();
	l.batch = arena_new();
	l.walk = &w;
	rc = args->has_after ? show_forwards(&l, &w, a, e)
			     : show_backwards(&l, &w, e);
	arena_free(l.batch);
	arena_free(a);
	walk_close(&w);
	return rc;
}

static int
run(int argc, char **argv)
{
	struct arguments args = { .limit = LIMIT };
	struct err e = { 0 };

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			return EXIT_USAGE;
	if (!args.repo)
		return usage_error("log needs a repository; see probity-audit "
				   "log --help");
	return show(&args, &e) ? not_done(&e) : EXIT_GOOD;
}

const struct command command_log = {
	.name = "log",
	.summary = "List events, the latest first, without verifying them",
	.arguments = "REPO [OPTION …]",
	.options = "  --limit N    at most so many events; default 20\n"
		   "  --after SEQ  those after this one, in their order\n"
		   "  --type TYPE  those of this type, such as action.created\n"
		   "  --json       one JSON object a line\n",
	.run = run,
};
