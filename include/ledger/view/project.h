/*
 * Event types and their projections. A projecting function reads its event and
 * the tables and nothing else: no clock, no randomness, no configuration, no
 * network; so state.db, deleted and rebuilt, is identical row for row. Every
 * type that ever landed stays.
 */
#ifndef LEDGER_VIEW_PROJECT_H
#define LEDGER_VIEW_PROJECT_H

#include "ledger/chain/event.h"
#include "ledger/view/db.h"

struct event_type {
	const char *name; /* "action.created" */
	const struct shape *data;
	/* data: the struct of the shape. */
	int (*project)(
	    struct db *, const struct event *, const void *data, struct err *);
	const char *doc;
};

/* What a group brings to the read model. */
struct view {
	const struct event_type *const *types; /* NULL-ended */
	const char *schema;                    /* SQL that makes its tables */
};

/* Declares a projecting function with its own data type, and the row. */
#define EVENT_TYPE(id, text, T, words)                                       \
	static int project_##id(struct db *, const struct event *,           \
	    const struct T *, struct err *);                                 \
	static int project_##id##_any(struct db *db, const struct event *ev, \
	    const void *data, struct err *e)                                 \
	{                                                                    \
		return project_##id(db, ev, data, e);                        \
	}                                                                    \
	const struct event_type event_##id = { text, &T##_shape,             \
		project_##id##_any, words }

#endif
