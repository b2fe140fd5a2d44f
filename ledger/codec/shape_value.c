#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ledger/codec/shape_decode.h"
#include "ledger/codec/shape_field.h"

#define PARAMETER_NAME_MAX 128

static const char *
parameter_name(struct decoding *d)
{
	size_t n = d->parameter.n;

	if (n > PARAMETER_NAME_MAX)
		n = PARAMETER_NAME_MAX;
	while (n < d->parameter.n && n > 0 &&
	       ((unsigned char)d->parameter.p[n] & 0xc0) == 0x80)
		n--;
	return arena_cstr(d->arena, str_slice(d->parameter, 0, n));
}

void
shape_fault(struct decoding *d, const struct place *at, const char *code,
    const char *fmt, ...)
{
	char text[PLACE_TEXT_MAX], detail[256];
	va_list ap;

	if (d->faults++ >= SHAPE_FAULTS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(detail, sizeof detail, fmt, ap);
	va_end(ap);
	if (d->parameter.p) {
		err_add_field(d->err, d->arena, "parameter", parameter_name(d),
		    code, "%s", detail);
		return;
	}
	place_format(at, true, text);
	err_add_field(d->err, d->arena, "pointer", text, code, "%s", detail);
}

static bool
is_among(struct str s, const char *const *values)
{
	for (; *values; values++)
		if (str_is(s, *values))
			return true;
	return false;
}

/* "must be one of a, b, c", as far as it fits. */
static void
fault_enum(struct decoding *d, const struct field *f, const struct place *at)
{
	struct buf b;

	buf_init(&b, 200);
	for (const char *const *v = f->values; *v; v++)
		buf_addf(&b, "%s%s", v == f->values ? "" : ", ", *v);
	shape_fault(d, at, "enum", "must be one of %.*s%s",
	    STR_ARGS(buf_str(&b)), buf_failed(&b) ? ", …" : "");
	buf_fini(&b);
}

static void
check_string(struct decoding *d, const struct field *f, struct str s,
    const struct place *at, size_t min, size_t max)
{
	/* Bytes bound code points from above; counting is rarely needed. */
	size_t n = s.n > max || s.n < min * 4 ? str_code_points(s) : s.n;

	if (n > max)
		shape_fault(
		    d, at, "too_long", "must have at most %zu characters", max);
	else if (n < min)
		shape_fault(d, at, "too_short",
		    "must have at least %zu characters", min);
	else if (f->values && !is_among(s, f->values))
		fault_enum(d, f, at);
	else if (s.n > 0 && memchr(s.p, '\0', s.n))
		shape_fault(d, at, "format", "must not contain U+0000");
	else if (f->format && !f->format->check(s))
		shape_fault(d, at, "format", "%s", f->format->expected);
}

static void
read_str(struct decoding *d, const struct field *f, struct str s,
    const struct place *at, void *slot)
{
	check_string(d, f, s, at, f->min > 0 ? (size_t)f->min : 0,
	    shape_field_length_max(f));
	*(struct str *)slot = s;
}

/* A lexeme of digits alone is an integer, whatever its size. */
static bool
is_integer_lexeme(struct str s)
{
	for (size_t i = s.n > 0 && s.p[0] == '-'; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return shape_is_json_number(s);
}

static bool
read_int(struct decoding *d, const struct field *f, struct str lexeme,
    const struct place *at, int64_t *out)
{
	int64_t low = -SHAPE_SAFE_INTEGER, high = SHAPE_SAFE_INTEGER, v;

	if (!is_integer_lexeme(lexeme)) {
		shape_fault(d, at, "type", "must be an integer");
		return false;
	}
	if (shape_field_has_minimum(f))
		low = f->min;
	if (f->max != 0)
		high = f->max;
	if (!str_to_i64(lexeme, &v))
		v = lexeme.p[0] == '-' ? INT64_MIN : INT64_MAX;
	if (v < low)
		shape_fault(
		    d, at, "minimum", "must be at least %lld", (long long)low);
	else if (v > high)
		shape_fault(
		    d, at, "maximum", "must be at most %lld", (long long)high);
	*out = v;
	return true;
}

static void
read_decimal(
    struct decoding *d, struct str s, const struct place *at, void *slot)
{
	if (s.n > SHAPE_DECIMAL_BYTES)
		shape_fault(d, at, "too_long",
		    "must have at most %d characters", SHAPE_DECIMAL_BYTES);
	else if (!shape_is_json_number(s))
		shape_fault(d, at, "type", "must be a decimal number");
	((struct decimal *)slot)->text = s;
}

/* Nil stands for no value; in a path it is a record that is not there. */
static void
read_uid(struct decoding *d, const struct field *f, struct str s,
    const struct place *at, void *slot)
{
	struct uid *uid = slot;

	if (!uid_parse(s, uid) || (f->place != IN_PATH && uid_is_none(*uid)))
		shape_fault(d, at, "format", "must be a UUID");
}

static void
read_instant(
    struct decoding *d, struct str s, const struct place *at, void *slot)
{
	struct instant *t = slot;

	if ((!instant_parse(s, t) && !instant_parse_rfc3339(s, t)) ||
	    t->us == 0)
		shape_fault(d, at, "format",
		    "must be a date and time (RFC 3339) after 1970-01-01");
}

static void
read_digest(
    struct decoding *d, struct str s, const struct place *at, void *slot)
{
	bool good = s.n == SHAPE_DIGEST_DIGITS;

	for (size_t i = 0; good && i < s.n; i++)
		good = (s.p[i] >= '0' && s.p[i] <= '9') ||
		       (s.p[i] >= 'a' && s.p[i] <= 'f');
	if (!good)
		shape_fault(d, at, "format",
		    "must be 64 lower-case hexadecimal digits");
	((struct digest_text *)slot)->hex = s;
}

/* The scalars, whose text is the same in JSON and in a parameter. */
static void
read_scalar(struct decoding *d, const struct field *f, struct str s,
    const struct place *at, void *slot)
{
	switch (f->type) {
	case FIELD_STR:
		read_str(d, f, s, at, slot);
		break;
	case FIELD_INT:
		read_int(d, f, s, at, slot);
		break;
	case FIELD_OPT_INT:
		((struct opt_int *)slot)->set =
		    read_int(d, f, s, at, &((struct opt_int *)slot)->v);
		break;
	case FIELD_BOOL:
		*(bool *)slot = str_is(s, "true");
		if (!str_is(s, "true") && !str_is(s, "false"))
			shape_fault(d, at, "type", "must be true or false");
		break;
	case FIELD_DECIMAL:
		read_decimal(d, s, at, slot);
		break;
	case FIELD_UID:
		read_uid(d, f, s, at, slot);
		break;
	case FIELD_INSTANT:
		read_instant(d, s, at, slot);
		break;
	case FIELD_DIGEST:
		read_digest(d, s, at, slot);
		break;
	case FIELD_JSON:
	case FIELD_OBJECT:
	case FIELD_LIST:
	case FIELD_STR_LIST:
		break;
	}
}

static bool
check_list(
    struct decoding *d, const struct field *f, size_t n, const struct place *at)
{
	size_t max = shape_field_length_max(f);

	if (n > max)
		shape_fault(
		    d, at, "too_long", "must have at most %zu items", max);
	else if (f->min > 0 && n < (size_t)f->min)
		shape_fault(d, at, "too_short", "must have at least %lld items",
		    (long long)f->min);
	return n <= max;
}

static void
read_list(struct decoding *d, const struct field *f, const struct json *v,
    const struct place *at, void *slot)
{
	struct place inner = { .up = at };
	struct list *list = slot;
	char *items;

	if (!check_list(d, f, v->n, at))
		return;
	items = arena_array(d->arena, v->n, f->of->size);
	for (const struct json *item = v->first; item; item = item->next) {
		shape_object_read(
		    d, f->of, item, &inner, items + inner.index * f->of->size);
		inner.index++;
	}
	*list = (struct list){ items, v->n };
}

static void
read_str_list(struct decoding *d, const struct field *f, const struct json *v,
    const struct place *at, void *slot)
{
	struct place inner = { .up = at };
	struct str_list *list = slot;
	struct str *items;

	if (!check_list(d, f, v->n, at))
		return;
	items = arena_array(d->arena, v->n, sizeof *items);
	for (const struct json *item = v->first; item; item = item->next) {
		if (item->type == JSON_STRING)
			check_string(
			    d, f, item->text, &inner, 0, SHAPE_STRING_LENGTH);
		else
			shape_fault(d, &inner, "type", "must be a string");
		items[inner.index++] = item->text;
	}
	*list = (struct str_list){ items, v->n };
}

static void
read_object(struct decoding *d, const struct field *f, const struct json *v,
    const struct place *at, void *slot)
{
	void *out = arena_alloc(d->arena, f->of->size);

	shape_object_read(d, f->of, v, at, out);
	*(const void **)slot = out;
}

/* What the type wants of JSON; NULL when v is that. */
static const char *
expected_type(const struct field *f, const struct json *v)
{
	switch (f->type) {
	case FIELD_INT:
	case FIELD_OPT_INT:
		return v->type == JSON_NUMBER ? NULL : "must be an integer";
	case FIELD_BOOL:
		return v->type == JSON_TRUE || v->type == JSON_FALSE
			   ? NULL
			   : "must be true or false";
	case FIELD_DECIMAL:
		return v->type == JSON_NUMBER || v->type == JSON_STRING
			   ? NULL
			   : "must be a decimal number";
	case FIELD_STR:
	case FIELD_UID:
	case FIELD_INSTANT:
	case FIELD_DIGEST:
		return v->type == JSON_STRING ? NULL : "must be a string";
	case FIELD_OBJECT:
		return v->type == JSON_OBJECT ? NULL : "must be an object";
	case FIELD_LIST:
	case FIELD_STR_LIST:
		return v->type == JSON_ARRAY ? NULL : "must be an array";
	case FIELD_JSON:
		break;
	}
	return NULL;
}

void
shape_value_read(struct decoding *d, const struct field *f,
    const struct json *v, const struct place *at, void *slot)
{
	const char *expected = expected_type(f, v);

	if (expected)
		shape_fault(d, at, "type", "%s", expected);
	else if (f->type == FIELD_JSON)
		*(const struct json **)slot = v;
	else if (f->type == FIELD_OBJECT)
		read_object(d, f, v, at, slot);
	else if (f->type == FIELD_LIST)
		read_list(d, f, v, at, slot);
	else if (f->type == FIELD_STR_LIST)
		read_str_list(d, f, v, at, slot);
	else if (f->type == FIELD_BOOL)
		*(bool *)slot = v->type == JSON_TRUE;
	else
		read_scalar(d, f, v->text, at, slot);
}

/* "a,b" as an array of strings; the empty text is the empty list. */
static const struct json *
split_list(struct arena *a, struct str text)
{
	struct json *list = json_array(a);

	if (text.n == 0)
		return list;
	while (text.p)
		json_push(list, json_string(a, str_take(&text, ',')));
	return list;
}

void
shape_text_read(
    struct decoding *d, const struct field *f, struct str text, void *slot)
{
	struct err ignored = { 0 };
	struct json *v;

	switch (f->type) {
	case FIELD_STR_LIST:
		if (!str_has_prefix(text, STR("["))) {
			shape_value_read(
			    d, f, split_list(d->arena, text), NULL, slot);
			return;
		}
		break;
	case FIELD_JSON:
	case FIELD_OBJECT:
	case FIELD_LIST:
		break;
	case FIELD_STR:
	case FIELD_INT:
	case FIELD_OPT_INT:
	case FIELD_BOOL:
	case FIELD_DECIMAL:
	case FIELD_UID:
	case FIELD_INSTANT:
	case FIELD_DIGEST:
		read_scalar(d, f, text, NULL, slot);
		return;
	}
	if (json_parse(d->arena, text, &json_limits_default, &v, &ignored))
		shape_fault(d, NULL, "type", "must be JSON");
	else
		shape_value_read(d, f, v, NULL, slot);
}
