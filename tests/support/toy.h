/*
 * A small group for tests and benchmarks of the ledger library: one event
 * type, one table, one command.
 */
#ifndef TESTS_SUPPORT_TOY_H
#define TESTS_SUPPORT_TOY_H

#include "ledger/write/ledger.h"

struct toy_noted {
	int64_t id;
	struct str text;
};
extern const struct event_type event_toy_noted;
extern const struct view *const toy_views[]; /* NULL-ended */

/* A ledger of its own below dir: dir/ledger and dir/keys. */
struct toy {
	char dir[256], ledger_dir[300], keys_dir[300];
	struct ledger_options options;
};

/* Makes a temporary directory below the given one (NULL: /tmp), and a ledger
 * in it; ends the process when it cannot. */
void toy_create(struct toy *, const char *below);
void toy_remove(struct toy *);

/* Makes the ledger of these paths. */
int toy_make(const struct toy *, struct err *);

/* Fills in the rest from dir, where another process made the ledger. */
void toy_paths(struct toy *);

/* Notes a text; refuses "refuse me" with err_conflict. */
int toy_note(struct ledger *, struct arena *, struct str text, struct receipt *,
    struct err *);

/* Hash of all rows of all tables, in order: equal read models, equal hash. */
struct digest toy_hash_view(const char *ledger_dir);

#endif
