#include <stdlib.h>
#include <yajl/yajl_parse.h>

#include "ledger/base/swar.h"
#include "ledger/codec/json.h"
#include "ledger/codec/json_text.h"

/* Up to this many members, a new name is compared with each before it. */
#define FEW_MEMBERS 16

const struct json_limits json_limits_default = { 1024 * 1024, 64, 200000 };

struct parse {
	struct arena *arena;
	const struct json_limits *limits;
	struct str text; /* a copy in the arena, which strings borrow from */
	yajl_handle yajl;
	struct json **open; /* the arrays and objects around this place */
	unsigned depth;
	size_t nodes;
	struct str name; /* of the member whose value comes next */
	struct json *root;
	struct err *err;
};

/* yajl wants to hear 0 to stop. */
static int
stop(struct parse *parse, const char *why)
{
	err_set(parse->err, &err_malformed, "%s at byte %zu", why,
	    yajl_get_bytes_consumed(parse->yajl));
	return 0;
}

/* yajl points into the text where it can, else into a buffer of its own. */
static struct str
keep(struct parse *parse, const void *at, size_t n)
{
	uintptr_t p = (uintptr_t)at, text = (uintptr_t)parse->text.p;
	struct str s = { at, n };

	if (n == 0)
		return STR("");
	if (p >= text && p - text < parse->text.n)
		return s;
	return arena_str(parse->arena, s);
}

static struct json *
add(struct parse *parse, enum json_type type)
{
	struct json *v;

	if (++parse->nodes > parse->limits->max_nodes) {
		err_set(parse->err, &err_too_large, "more than %zu JSON values",
		    parse->limits->max_nodes);
		return NULL;
	}
	v = ARENA_NEW(parse->arena, struct json);
	v->type = type;
	if (parse->depth > 0) {
		struct json *parent = parse->open[parse->depth - 1];

		if (parent->type == JSON_OBJECT)
			v->name = parse->name;
		json_push(parent, v);
	} else {
		parse->root = v;
	}
	return v;
}

static int
on_null(void *context)
{
	return add(context, JSON_NULL) != NULL;
}

static int
on_boolean(void *context, int value)
{
	return add(context, value ? JSON_TRUE : JSON_FALSE) != NULL;
}

static int
on_number(void *context, const char *p, size_t n)
{
	struct json *v = add(context, JSON_NUMBER);

	if (v)
		v->text = keep(context, p, n);
	return v != NULL;
}

static int
on_string(void *context, const unsigned char *p, size_t n)
{
	struct json *v = add(context, JSON_STRING);

	if (v)
		v->text = keep(context, p, n);
	return v != NULL;
}

static int
open_container(struct parse *parse, enum json_type type)
{
	struct json *v;

	if (parse->depth == parse->limits->max_depth)
		return stop(parse, "nested too deeply");
	v = add(parse, type);
	if (v)
		parse->open[parse->depth++] = v;
	return v != NULL;
}

static int
on_start_object(void *context)
{
	return open_container(context, JSON_OBJECT);
}

static int
on_start_array(void *context)
{
	return open_container(context, JSON_ARRAY);
}

static int
on_name(void *context, const unsigned char *p, size_t n)
{
	struct parse *parse = context;
	const struct json *object = parse->open[parse->depth - 1];

	parse->name = keep(parse, p, n);
	if (object->n >= FEW_MEMBERS)
		return 1; /* on_end_object looks for duplicates */
	for (const struct json *at = object->first; at; at = at->next)
		if (at->name.n == n && memcmp(at->name.p, p, n) == 0)
			return stop(parse, "duplicate member");
	return 1;
}

static int
compare_names(const void *a, const void *b)
{
	const struct json *const *left = a, *const *right = b;

	return str_cmp((*left)->name, (*right)->name);
}

static bool
has_duplicates(struct arena *a, const struct json *object)
{
	const struct json **members =
	    arena_array(a, object->n, sizeof *members);
	size_t n = 0;

	for (const struct json *at = object->first; at; at = at->next)
		members[n++] = at;
	qsort(members, n, sizeof *members, compare_names);
	for (size_t i = 1; i < n; i++)
		if (str_eq(members[i - 1]->name, members[i]->name))
			return true;
	return false;
}

static int
on_end_object(void *context)
{
	struct parse *parse = context;
	const struct json *object = parse->open[--parse->depth];

	if (object->n > FEW_MEMBERS && has_duplicates(parse->arena, object))
		return stop(parse, "duplicate member in the object that ends");
	return 1;
}

static int
on_end_array(void *context)
{
	struct parse *parse = context;

	parse->depth--;
	return 1;
}

/* The unit that the escape \uXXXX at s[i] names, or -1. */
static int
escaped_unit(struct str s, size_t i)
{
	int unit = 0;

	if (s.n - i < 6 || s.p[i] != '\\' || s.p[i + 1] != 'u')
		return -1;
	for (size_t k = i + 2; k < i + 6; k++) {
		char c = s.p[k], low = (char)(c | 0x20);

		if (c >= '0' && c <= '9')
			unit = unit << 4 | (c - '0');
		else if (low >= 'a' && low <= 'f')
			unit = unit << 4 | (low - 'a' + 10);
		else
			return -1;
	}
	return unit;
}

/* Length of the escape at s[i]; 0 for half a surrogate pair. What is no escape
 * at all is left for yajl to refuse. */
static size_t
escape_length(struct str s, size_t i)
{
	int unit = escaped_unit(s, i), low;

	if (unit < 0xd800 || unit > 0xdfff)
		return 2;
	if (unit >= 0xdc00 || s.n - i < 12)
		return 0;
	low = escaped_unit(s, i + 6);
	return low >= 0xdc00 && low <= 0xdfff ? 12 : 0;
}

/*
 * What yajl lets pass: vertical tab and form feed as white space, and half
 * surrogate pairs. A backslash outside of a string is refused by yajl, so the
 * first one from the left begins an escape.
 */
static int
check_raw(struct str s, struct err *e)
{
	for (size_t i = 0; i < s.n;) {
		unsigned char c = (unsigned char)s.p[i];

		if (s.n - i >= 8) {
			uint64_t x = swar_load(s.p + i);
			uint64_t marks =
			    swar_mark_control(x) | swar_mark_byte(x, '\\');

			if (!marks) {
				i += 8;
				continue;
			}
			i += (size_t)swar_first(marks);
			c = (unsigned char)s.p[i];
		}
		if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
			return err_set(e, &err_malformed,
			    "control character at byte %zu", i);
		if (c == '\\') {
			size_t n = escape_length(s, i);

			if (n == 0)
				return err_set(e, &err_malformed,
				    "lone surrogate at byte %zu", i);
			i += n;
		} else {
			i++;
		}
	}
	return 0;
}

/* Where the text stops being UTF-8. */
static size_t
utf8_fault(struct str s)
{
	size_t i = 0, n;

	while (i < s.n) {
		for (n = 1; n <= 4; n++)
			if (str_is_utf8(str_slice(s, i, i + n)))
				break;
		if (n > 4)
			break;
		i += n;
	}
	return i;
}

static int
run(struct parse *parse)
{
	static const yajl_callbacks callbacks = { .yajl_null = on_null,
		.yajl_boolean = on_boolean,
		.yajl_number = on_number,
		.yajl_string = on_string,
		.yajl_start_map = on_start_object,
		.yajl_map_key = on_name,
		.yajl_end_map = on_end_object,
		.yajl_start_array = on_start_array,
		.yajl_end_array = on_end_array };
	yajl_status status;

	parse->yajl = yajl_alloc(&callbacks, NULL, parse);
	if (!parse->yajl)
		abort();
	/* The whole text was checked, and more strictly than yajl does. */
	yajl_config(parse->yajl, yajl_dont_validate_strings, 1);
	status = yajl_parse(
	    parse->yajl, (const unsigned char *)parse->text.p, parse->text.n);
	if (status == yajl_status_error)
		stop(parse, "not JSON");
	if (status == yajl_status_ok) {
		status = yajl_complete_parse(parse->yajl);
		if (status != yajl_status_ok)
			err_set(parse->err, &err_malformed,
			    "JSON ends too early, at byte %zu", parse->text.n);
	}
	yajl_free(parse->yajl);
	return status == yajl_status_ok ? 0 : -1;
}

int
json_parse(struct arena *a, struct str text, const struct json_limits *limits,
    struct json **out, struct err *e)
{
	struct parse parse = { .arena = a, .limits = limits, .err = e };

	if (text.n > limits->max_bytes)
		return err_set(e, &err_too_large, "more than %zu bytes of JSON",
		    limits->max_bytes);
	if (!str_is_utf8(text))
		return err_set(e, &err_malformed, "not UTF-8 at byte %zu",
		    utf8_fault(text));
	if (check_raw(text, e))
		return -1;
	parse.text = text.n ? arena_str(a, text) : STR("");
	parse.open = arena_array(a, limits->max_depth, sizeof *parse.open);
	if (run(&parse))
		return -1;
	*out = parse.root;
	return 0;
}
