#include "tests/support/toy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHAPE(toy_noted, "A note", FIELD(toy_noted, id, .min = 1, .doc = "Number"),
    FIELD(toy_noted, text, .required = true, .doc = "Text"));

EVENT_TYPE(toy_noted, "toy.noted", toy_noted, "A note was made");

static int
project_toy_noted(struct db *db, const struct event *ev,
    const struct toy_noted *data, struct err *e)
{
	return db_run(db, e, "INSERT INTO toy VALUES (?, ?, ?, ?)", "iusi",
	    data->id, ev->subject, data->text, (int64_t)ev->seq);
}

static const struct event_type *const toy_types[] = { &event_toy_noted, NULL };
static const struct view toy_view = { toy_types,
	"CREATE TABLE toy (id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,"
	" text TEXT NOT NULL, seq INTEGER NOT NULL);" };
const struct view *const toy_views[] = { &toy_view, NULL };

static void
die(const char *what, const struct err *e)
{
	fprintf(stderr, "%s: %s: %s\n", what, e->kind ? e->kind->slug : "?",
	    e->detail);
	exit(1);
}

void
toy_paths(struct toy *t)
{
	snprintf(t->ledger_dir, sizeof t->ledger_dir, "%s/ledger", t->dir);
	snprintf(t->keys_dir, sizeof t->keys_dir, "%s/keys", t->dir);
	t->options = (struct ledger_options){ .dir = t->ledger_dir,
		.keys_dir = t->keys_dir,
		.origin = STR("ledger.example.com/toy/sandbox"),
		.views = toy_views,
		.clock = &clock_system,
		.free_floor = 1 };
}

int
toy_make(const struct toy *t, struct err *e)
{
	struct actor actor = { .kind = STR("operator"), .id = STR("tester") };

	return ledger_create(&t->options, &actor, e);
}

void
toy_create(struct toy *t, const char *below)
{
	struct err e = { 0 };

	snprintf(t->dir, sizeof t->dir, "%s/probity-toy-XXXXXX",
	    below ? below : "/tmp");
	if (mkdtemp(t->dir) == NULL)
		die("mkdtemp", &e);
	toy_paths(t);
	if (toy_make(t, &e))
		die("ledger_create", &e);
}

void
toy_remove(struct toy *t)
{
	char command[300];

	snprintf(command, sizeof command, "rm -rf '%s'", t->dir);
	if (system(command) != 0)
		fprintf(stderr, "could not remove %s\n", t->dir);
}

struct note_in {
	struct str text;
};

static int
decide_note(struct tx *tx, void *arg, struct err *e)
{
	const struct note_in *in = arg;
	struct toy_noted data = { .text = in->text };

	if (str_eq(in->text, STR("refuse me")))
		return err_set(e, &err_conflict, "refused as asked");
	if (db_get_int(
		tx_db(tx), &data.id, 0, e, "SELECT max(id) FROM toy", ""))
		return -1;
	data.id++;
	return tx_emit(
	    tx, &event_toy_noted, "toy", tx_uid(tx), &data, NULL, 0, e);
}

int
toy_note(struct ledger *l, struct arena *a, struct str text, struct receipt *r,
    struct err *e)
{
	struct note_in in = { text };
	struct command c = { .decide = decide_note,
		.arg = &in,
		.actor = { .kind = STR("application"),
		    .id = STR("0192f0e4-0000-7000-8000-000000000001"),
		    .credential = STR("pby_test_toy_1") },
		.request = uid_new(),
		.arena = a };

	return ledger_submit(l, &c, r, e);
}

struct digest
toy_hash_view(const char *ledger_dir)
{
	struct sha256_stream *s = sha256_stream_new();
	char command[400], line[4096];
	FILE *f;

	snprintf(
	    command, sizeof command, "sqlite3 '%s/state.db' .dump", ledger_dir);
	f = popen(command, "r");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		sha256_stream_add(s, str_from(line));
	if (f == NULL || pclose(f) != 0)
		die("sqlite3 .dump", &(struct err){ 0 });
	return sha256_stream_end(s);
}
