/*
 * An operation, declared once, in its group's folder. Routes, OpenAPI, MCP
 * tools, probityctl subcommands and tests are made from this row.
 *
 * A read fills its reply from the tables. A write decides: it reads the
 * tables, refuses or emits events; its reply is rendered from the first event
 * it emitted, so that a replay of the same request, after a rebuild too, gives
 * the same bytes. Either is a typed function; the macros check the types.
 *
 *	WRITE_OPERATION(model_register, register_model, model,
 *		.id = "lqm.register_model", .method = "POST",
 *		.path = "/api/v2/lqm/models", .scope = "lqm:build:write",
 *		.status = 201, .emits = EMITS(&event_model_registered),
 *		.summary = "Register a model");
 *
 *	static int
 *	model_register_decide(struct context *c,
 *	    const struct register_model *in, struct err *e) …
 *	static int
 *	model_register_reply(struct context *c, const struct event *ev,
 *	    struct model *out, struct err *e) …
 */
#ifndef DOMAIN_OPERATION_H
#define DOMAIN_OPERATION_H

#include "domain/context.h"
#include "ledger/codec/shape.h"

/* READ: changes nothing. WRITE: emits events. INVOKE: a write that acts on the
 * world or computes. */
enum effect { EFFECT_READ, EFFECT_WRITE, EFFECT_INVOKE };

struct operation {
	const char *id;      /* "action.create_credit", never changes */
	const char *method;  /* NULL: no HTTP route */
	const char *path;    /* "/api/v2/lqm/models/{uid}" */
	const char *command; /* "workspace create": an operator row; or NULL */
	const char *scope;   /* NULL on operator rows */
	const char
	    *entitlement;    /* product key the application needs, or NULL */
	const char *product; /* the group's name in the published index */
	const char *summary;
	const char *since;      /* version that brought it: "2.0.0" */
	const char *stability;  /* NULL: "Stable" */
	const char *deprecated; /* day that announces its end, YYYY-MM-DD; NULL:
				   it stays */
	const char *sunset;     /* day of its end, a year later at least */
	const char *successor;  /* path of the row that takes its place, or
				   NULL */
	const char *record;     /* path of the row that reads what it made, by
				   the reply's uid: "/api/v2/…/{uid}"; or NULL */
	const char *media_type; /* the reply is bytes of this type, a struct
				   content; NULL: JSON by `out` */
	const char *const *renderings; /* media types that a read may answer in
					  besides, NULL-ended; or NULL */
	const char *examples; /* HTTP: the group's examples/<id>.json, embedded
				 (docs/contributing.md) */
	const char *file_field; /* command line: this field is a file's content,
				   given as --<field> PATH; several have a
				   space between them */
	enum effect effect;
	bool no_body; /* a body is never read (GET, some POSTs) */
	bool body_optional;
	bool no_ledger; /* needs no ledger of the place: context->ledger may be
			   NULL; a write's prepare sets it, acquired */
	bool may_wait;  /* answers 202 too, when the worker is to do it */
	bool reply_is_pure;  /* reply looks at the event alone, no tables */
	bool confirms_clock; /* decided although the clock is implausible */
	int status;          /* of success: 200, 201, 202 */
	const struct shape *in, *out;
	const struct event_type *const *emits;  /* NULL-ended; writes only */
	const struct err_kind *const *refusals; /* beside the common ones */

	/* Runs before the turn: checks that need no tables, stores payloads.
	 * What it finds out goes into context->prepared. May be NULL. */
	int (*prepare)(struct context *, const void *in, struct err *);
	/* Writes. */
	int (*decide)(struct context *, const void *in, struct err *);
	int (*reply)(
	    struct context *, const struct event *, void *out, struct err *);
	/* Reads. */
	int (*read)(struct context *, const void *in, void *out, struct err *);
};

/* Bytes that are made while they are sent, long after the call has ended. */
struct content_source {
	/* The next ones, borrowed until the next call; none at the end. */
	struct str (*next)(struct content_source *);
	void (*close)(struct content_source *);
};

/* A reply that is bytes. */
struct content {
	struct str bytes;
	struct str file_name;   /* a file to keep; no value: it is none */
	const char *media_type; /* NULL: the row's */
	struct content_source *source; /* in place of bytes; or NULL */
	struct str etag; /* of a source: what changes when it does */
};
extern const struct shape content_shape;

/* A row may say otherwise than the defaults that its macro gives it. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* clang-format off */
#define EMITS(...) (const struct event_type *const[]){ __VA_ARGS__, NULL }
#define REFUSES(...) (const struct err_kind *const[]){ __VA_ARGS__, NULL }

#define READ_OPERATION(fn, I, O, ...) \
	static int fn##_read(struct context *, const struct I *, struct O *, struct err *); \
	static int fn##_read_any(struct context *c, const void *i, void *o, struct err *e) \
	{ return fn##_read(c, i, o, e); } \
	const struct operation op_##fn = { .effect = EFFECT_READ, .status = 200, .no_body = true, \
		.since = "2.0.0", .in = &I##_shape, .out = &O##_shape, .read = fn##_read_any, __VA_ARGS__ }

/* A read whose reply is bytes. The row says .media_type, and where the bytes
 * are JSON their shape by .out. */
#define CONTENT_OPERATION(fn, I, ...) \
	static int fn##_read(struct context *, const struct I *, struct content *, struct err *); \
	static int fn##_read_any(struct context *c, const void *i, void *o, struct err *e) \
	{ return fn##_read(c, i, o, e); } \
	const struct operation op_##fn = { .effect = EFFECT_READ, .status = 200, .no_body = true, \
		.since = "2.0.0", .in = &I##_shape, .out = &content_shape, .read = fn##_read_any, __VA_ARGS__ }

#define WRITE_OPERATION(fn, I, O, ...) \
	static int fn##_decide(struct context *, const struct I *, struct err *); \
	static int fn##_reply(struct context *, const struct event *, struct O *, struct err *); \
	static int fn##_decide_any(struct context *c, const void *i, struct err *e) \
	{ return fn##_decide(c, i, e); } \
	static int fn##_reply_any(struct context *c, const struct event *v, void *o, struct err *e) \
	{ return fn##_reply(c, v, o, e); } \
	const struct operation op_##fn = { .effect = EFFECT_WRITE, .status = 201, .since = "2.0.0", \
		.in = &I##_shape, .out = &O##_shape, .decide = fn##_decide_any, \
		.reply = fn##_reply_any, __VA_ARGS__ }

/* For the row's .prepare: a typed function as the untyped one. Stands before
 * the row. */
#define PREPARE(fn, I) \
	static int fn##_prepare(struct context *, const struct I *, struct err *); \
	static int fn##_prepare_any(struct context *c, const void *i, struct err *e) \
	{ return fn##_prepare(c, i, e); }
/* clang-format on */

/* A list reply: keyset paging by integer id, ascending. Groups embed these
 * fields by LIST_FIELDS in a reply struct {struct list data; bool has_more;
 * struct opt_int next_after_id;}. */
struct page {
	struct list data;
	bool has_more;
	struct opt_int next_after_id;
};
/* clang-format off */
#define PAGE_SHAPE(id, text, item_shape) \
	SHAPE_AS(id, page, text, \
		FIELD(page, data, .of = &(item_shape), .max = 200, .doc = "The records, by rising id"), \
		FIELD(page, has_more, .doc = "Whether more follow"), \
		FIELD(page, next_after_id, .doc = "after_id of the next page; null on the last"))
/* A read whose reply is a page: P is the id given to PAGE_SHAPE. */
#define LIST_OPERATION(fn, I, P, ...) \
	static int fn##_read(struct context *, const struct I *, struct page *, struct err *); \
	static int fn##_read_any(struct context *c, const void *i, void *o, struct err *e) \
	{ return fn##_read(c, i, o, e); } \
	const struct operation op_##fn = { .effect = EFFECT_READ, .status = 200, .no_body = true, \
		.since = "2.0.0", .in = &I##_shape, .out = &P##_shape, .read = fn##_read_any, __VA_ARGS__ }
/* Query fields `limit` and `after_id` of a struct with int64_t members of these
 * names. */
#define PAGE_QUERY(T) \
	FIELD(T, limit, .place = IN_QUERY, .min = 1, .max = 200, .def = "50", .doc = "Records a page, 1 to 200"), \
	FIELD(T, after_id, .place = IN_QUERY, .min = 0, .max = 9007199254740991, .def = "0", .doc = "Only records with a greater id")
/* clang-format on */

#endif
