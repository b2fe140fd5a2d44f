/*
 * JSON (RFC 8259) as a tree in an arena, strict: duplicate members, lone
 * surrogates, invalid UTF-8, depth over the limit and anything after the value
 * are refused. Numbers are kept as the text they were written in and never
 * pass through a double.
 *
 *	struct json *v;
 *	if (json_parse(a, text, &json_limits_default, &v, e))
 *		return -1;
 *	amount = json_get(v, "amount");
 */
#ifndef LEDGER_CODEC_JSON_H
#define LEDGER_CODEC_JSON_H

#include "ledger/base/arena.h"
#include "ledger/base/buf.h"
#include "ledger/base/err.h"

enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER, /* text: the lexeme */
	JSON_STRING, /* text: decoded, UTF-8 */
	JSON_ARRAY,
	JSON_OBJECT
};

struct json {
	enum json_type type;
	struct str text;
	struct str name; /* in an object: the member's name */
	struct json *first, *last, *next;
	size_t n; /* children */
};

struct json_limits {
	size_t max_bytes;
	unsigned max_depth;
	size_t max_nodes;
};

/* 1 MiB, depth 64, 200,000 values. */
extern const struct json_limits json_limits_default;

/*
 * Parses the whole of text. The tree lives in the arena and borrows nothing
 * from text. err_malformed (with the byte offset in the detail), or
 * err_too_large beyond max_bytes.
 */
int json_parse(struct arena *, struct str text, const struct json_limits *,
    struct json **out, struct err *);

/* The member, or NULL; NULL too when v is not an object. */
struct json *json_get(const struct json *v, const char *name);

/* The member's text if it is a string, else no value. */
struct str json_get_str(const struct json *v, const char *name);

/* The member as an integer; false when absent or not one within ±(2^53−1). */
bool json_get_int(const struct json *v, const char *name, int64_t *out);

/* Building. Text is borrowed and must live as long as the tree. */
struct json *json_null(struct arena *);
struct json *json_bool(struct arena *, bool);
struct json *json_int(struct arena *, int64_t);
struct json *json_string(struct arena *, struct str); /* no value: null */
struct json *json_array(struct arena *);
struct json *json_object(struct arena *);

/* A value whose JSON text is at hand, valid and without white space: it is
 * written as it stands. Nobody looks into it, so it has no canonical form. */
struct json *json_written(struct arena *, struct str text);

/* Appends; the child must not be in another tree. */
void json_push(struct json *array, struct json *child);
void json_put(struct json *object, const char *name, struct json *child);
void json_put_str(
    struct arena *, struct json *object, const char *name, struct str);
void json_put_int(
    struct arena *, struct json *object, const char *name, int64_t);

/* A copy whose nodes are new and whose text is borrowed from v. */
struct json *json_copy(struct arena *, const struct json *v);

/* Members in the order they stand, no white space. */
void json_write(const struct json *, struct buf *);

/* Indented by two, for people. */
void json_write_pretty(const struct json *, struct buf *);

#endif
