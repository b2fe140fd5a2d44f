/*
 * Lists that can be asked with proof=complete: beside the records the reply
 * then has what shows that none was left out, against a commit that the
 * ledger's key signed (docs/ledger-format.md, "The index").
 *
 * Only records that events are about are in the index: a list's items must be
 * exactly the records of one kind, in the order of their identifiers, without a
 * filter.
 *
 *	COMPLETE_PAGE_SHAPE(event_page, "Events", event_item_shape);
 *	COMPLETE_LIST_OPERATION(ledger_event_list, event_list_query, event_page,
 *		…);
 *	…
 *	if (in->proof.p && complete_prove_record(c, kind, uid, &out->complete,
 *			e))
 *		return -1;
 */
#ifndef DOMAIN_COMPLETE_H
#define DOMAIN_COMPLETE_H

#include "domain/operation.h"

/* What shows it. */
struct complete {
	struct str format; /* INDEX_FORMAT */
	int64_t size;      /* of the ledger */
	struct str kind;
	struct uid subject;   /* this record alone; none: */
	struct uid after, to; /* those above the one, up to the other with it;
				 none: from the first, to the last */
	struct str_list pages;
	struct str commit, checkpoint;
};
extern const struct shape complete_shape;

/* The record of this kind and identifier, or that there is none. *out is a
 * struct complete. err_conflict while the ledger has no index. */
int complete_prove_record(struct context *, struct str kind, struct uid,
    const void **out, struct err *);

/* The records of a kind above `after` (none: from the first), up to `to` with
 * it (none: to the last). */
int complete_prove_kind(struct context *, struct str kind, struct uid after,
    struct uid to, const void **out, struct err *);

/* Refuses a filter beside proof=complete, by the parameter's name. */
int complete_refuse_filter(
    struct context *, bool given, const char *name, struct err *);

/* A page as struct page, with the proof when it was asked for. */
struct complete_page {
	struct list data;
	bool has_more;
	struct opt_int next_after_id;
	const void *complete;
};
/* clang-format off */
#define COMPLETE_FIELD(T) \
	FIELD(T, complete, .of = &complete_shape, .omit_null = true, .doc = "With proof=complete: what shows that nothing was left out")
#define COMPLETE_PAGE_SHAPE(id, text, item_shape) \
	SHAPE_AS(id, complete_page, text, \
		FIELD(complete_page, data, .of = &(item_shape), .max = 200, .doc = "The records, by rising id; by identifier with proof=complete"), \
		FIELD(complete_page, has_more, .doc = "Whether more follow"), \
		FIELD(complete_page, next_after_id, .doc = "after_id of the next page; null on the last"), \
		COMPLETE_FIELD(complete_page))
#define COMPLETE_LIST_OPERATION(fn, I, P, ...) \
	static int fn##_read(struct context *, const struct I *, struct complete_page *, struct err *); \
	static int fn##_read_any(struct context *c, const void *i, void *o, struct err *e) \
	{ return fn##_read(c, i, o, e); } \
	const struct operation op_##fn = { .effect = EFFECT_READ, .status = 200, .no_body = true, \
		.since = "2.0.0", .in = &I##_shape, .out = &P##_shape, .read = fn##_read_any, __VA_ARGS__ }
/* The query field `proof` of a struct with a struct str of this name. */
#define COMPLETE_QUERY(T) \
	FIELD(T, proof, .place = IN_QUERY, .values = VALUES("complete"), .doc = "complete: with what shows that nothing was left out; takes no filter")
/* clang-format on */

#endif
