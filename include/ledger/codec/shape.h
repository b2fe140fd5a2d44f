/*
 * A shape describes the fields of a C struct once. Requests, replies, events
 * and configuration are decoded and encoded by it, and the OpenAPI, MCP and
 * command-line descriptions are printed from it.
 *
 * A field's type follows from the struct member's type:
 *
 *	struct str       string; no value = null
 *	int64_t          integer; null only by absence, then 0 or .def
 *	struct opt_int   integer or null
 *	bool             boolean, false by absence
 *	struct decimal   money and every non-integer: digits, never a double.
 *	                 Decodes from a JSON number or string, the lexeme is
 *kept as written; encodes as a string struct uid       UUID; none = null struct
 *instant   RFC 3339; 0 = null struct digest_text  64 lower-case hex digits; no
 *value = null const struct json *  any JSON; NULL = null const void *     a
 *nested struct of the shape .of; NULL = null struct list      an array of
 *structs of the shape .of struct str_list  an array of strings
 *
 *	struct register_model { struct str name; bool dry_run; };
 *	SHAPE(register_model, "A model to register",
 *		FIELD(register_model, name, .required = true, .max = 120,
 *			.doc = "Display name"),
 *		FIELD(register_model, dry_run, .doc = "Check only"));
 */
#ifndef LEDGER_CODEC_SHAPE_H
#define LEDGER_CODEC_SHAPE_H

#include "ledger/base/uid.h"
#include "ledger/codec/json.h"

struct opt_int {
	bool set;
	int64_t v;
};
struct decimal {
	struct str text;
};
struct digest_text {
	struct str hex;
};
struct list {
	const void *items; /* n structs, one after the other */
	size_t n;
};
struct str_list {
	const struct str *items;
	size_t n;
};

enum field_type {
	FIELD_STR,
	FIELD_INT,
	FIELD_OPT_INT,
	FIELD_BOOL,
	FIELD_DECIMAL,
	FIELD_UID,
	FIELD_INSTANT,
	FIELD_DIGEST,
	FIELD_JSON,
	FIELD_OBJECT,
	FIELD_LIST,
	FIELD_STR_LIST
};

/* Where a request carries the field. */
enum field_place { IN_BODY, IN_PATH, IN_QUERY };

/* A string form with a name: its check, and what JSON Schema says of it. */
struct field_format {
	const char *name;               /* code in errors, e.g. "date" */
	const char *json_schema_format; /* or NULL */
	const char *pattern;            /* ECMA regular expression, or NULL */
	const char *expected;           /* "must be …" */
	bool (*check)(struct str);
};

extern const struct field_format format_date;     /* YYYY-MM-DD */
extern const struct field_format format_key;      /* [a-z0-9][a-z0-9._-]* */
extern const struct field_format format_currency; /* three capitals */
extern const struct field_format format_text;     /* no control characters */

struct shape;

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	enum field_place place;
	bool required;   /* present and not null */
	bool omit_null;  /* encode: leave out instead of null */
	int64_t min;     /* integers: value; strings, lists: length */
	int64_t max;     /* 0: a string may have 4,096 code points, a list 1,000
			    items, an integer is not bounded */
	const char *def; /* value when absent, as text */
	const char *const *values; /* the only ones permitted, NULL-ended */
	const struct field_format *format;
	const struct shape *of;
	const char *doc;
};

struct shape {
	const char *name, *doc;
	const struct field *fields;
	size_t n, size;
};

/* clang-format off */
#define FIELD_TYPE(T, m) _Generic(((struct T *)0)->m, \
	struct str: FIELD_STR, int64_t: FIELD_INT, struct opt_int: FIELD_OPT_INT, \
	bool: FIELD_BOOL, struct decimal: FIELD_DECIMAL, struct uid: FIELD_UID, \
	struct instant: FIELD_INSTANT, struct digest_text: FIELD_DIGEST, \
	const struct json *: FIELD_JSON, const void *: FIELD_OBJECT, \
	struct list: FIELD_LIST, struct str_list: FIELD_STR_LIST)
#define FIELD(T, m, ...) { .name = #m, .type = FIELD_TYPE(T, m), \
	.offset = offsetof(struct T, m), __VA_ARGS__ }
#define SHAPE_AS(id, T, text, ...) \
	static const struct field id##_fields[] = { __VA_ARGS__ }; \
	const struct shape id##_shape = { #id, text, id##_fields, \
		sizeof id##_fields / sizeof id##_fields[0], sizeof(struct T) }
#define SHAPE(T, text, ...) SHAPE_AS(T, T, text, __VA_ARGS__)
#define VALUES(...) (const char *const[]){ __VA_ARGS__, NULL }
/* clang-format on */

/* The shape without fields, for operations that take or answer nothing. */
struct nothing {
	char unused;
};
extern const struct shape nothing_shape;

/* A path or query parameter, or a command-line option, as text. */
struct param {
	struct str name, value;
	enum field_place place;
};

/*
 * What a request brought. Fronts that have no paths and queries (command line,
 * MCP) set `flat`: then any field may come from params or the body.
 */
struct input {
	const struct json *body; /* NULL: none */
	const struct param *params;
	size_t n_params;
	bool flat;
};

/*
 * Fills *out (shape->size bytes, zeroed here). Every bad field is reported in
 * e->fields, all at once: wrong types, missing, out of bounds, unknown members
 * and parameters by name. Strings are borrowed from the input. err_invalid.
 */
int shape_decode(const struct shape *, const struct input *, struct arena *,
    void *out, struct err *);

/* shape_decode of one JSON object, every place alike; for events. */
int shape_decode_json(const struct shape *, const struct json *, struct arena *,
    void *out, struct err *);

/* The struct as JSON; strings are borrowed. */
struct json *shape_encode(const struct shape *, const void *, struct arena *);

/* JSON Schema 2020-12 of the fields in this place; `reply` describes what
 * shape_encode gives (all members present, null where allowed), otherwise what
 * shape_decode takes. Nested shapes are written in place. */
struct json *shape_schema(
    const struct shape *, enum field_place, bool reply, struct arena *);

/* Whether the text is a decimal number: -?digits[.digits], at most 40 digits,
 * no exponent, no leading zeros. */
bool decimal_is_valid(struct str);

#endif
