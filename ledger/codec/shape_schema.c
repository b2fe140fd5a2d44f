#include "ledger/codec/shape_field.h"

#define ANY_PLACE (-1)

/* One description in progress. */
struct describing {
	struct arena *arena;
	bool reply;
};

static struct json *describe_shape(const struct describing *d,
    const struct shape *shape, int place, bool nullable);

static void
put_text(const struct describing *d, struct json *schema, const char *name,
    const char *text)
{
	if (text)
		json_put_str(d->arena, schema, name, str_from(text));
}

/* "type": one name, or an array of names. */
static void
put_type(const struct describing *d, struct json *schema, const char *type,
    const char *second, bool nullable)
{
	struct json *types;

	if (!second && !nullable) {
		put_text(d, schema, "type", type);
		return;
	}
	types = json_array(d->arena);
	json_push(types, json_string(d->arena, str_from(type)));
	if (second)
		json_push(types, json_string(d->arena, str_from(second)));
	if (nullable)
		json_push(types, json_string(d->arena, STR("null")));
	json_put(schema, "type", types);
}

static void
put_values(const struct describing *d, struct json *schema,
    const struct field *f, bool nullable)
{
	struct json *values;

	if (!f->values)
		return;
	values = json_array(d->arena);
	for (const char *const *v = f->values; *v; v++)
		json_push(values, json_string(d->arena, str_from(*v)));
	if (nullable)
		json_push(values, json_null(d->arena));
	json_put(schema, "enum", values);
}

/* What a string of this field looks like: values and format. */
static void
put_form(const struct describing *d, struct json *schema, const struct field *f,
    bool nullable)
{
	put_values(d, schema, f, nullable);
	if (!f->format)
		return;
	put_text(d, schema, "format", f->format->json_schema_format);
	put_text(d, schema, "pattern", f->format->pattern);
}

/* Replies carry what events hold; only what is taken is bounded. */
static void
put_lengths(const struct describing *d, struct json *schema,
    const struct field *f, const char *min, const char *max)
{
	if (d->reply)
		return;
	if (f->min > 0)
		json_put_int(d->arena, schema, min, f->min);
	json_put_int(d->arena, schema, max, (int64_t)shape_field_length_max(f));
}

static void
put_range(
    const struct describing *d, struct json *schema, const struct field *f)
{
	int64_t low = -SHAPE_SAFE_INTEGER, high = SHAPE_SAFE_INTEGER;

	if (d->reply)
		return;
	if (shape_field_has_minimum(f))
		low = f->min;
	if (f->max != 0)
		high = f->max;
	json_put_int(d->arena, schema, "minimum", low);
	json_put_int(d->arena, schema, "maximum", high);
}

static void
describe_decimal(const struct describing *d, struct json *schema, bool nullable)
{
	put_type(d, schema, "string", d->reply ? NULL : "number", nullable);
	put_text(d, schema, "pattern", SHAPE_NUMBER_PATTERN);
	if (!d->reply)
		json_put_int(
		    d->arena, schema, "maxLength", SHAPE_DECIMAL_BYTES);
}

static void
describe_list(
    const struct describing *d, struct json *schema, const struct field *f)
{
	struct json *items;

	put_type(d, schema, "array", NULL, false);
	put_lengths(d, schema, f, "minItems", "maxItems");
	if (f->type == FIELD_LIST) {
		items = describe_shape(d, f->of, ANY_PLACE, false);
	} else {
		items = json_object(d->arena);
		put_type(d, items, "string", NULL, false);
		put_form(d, items, f, false);
		if (!d->reply)
			json_put_int(
			    d->arena, items, "maxLength", SHAPE_STRING_LENGTH);
	}
	json_put(schema, "items", items);
}

/* A string of a fixed form, in a field that may hold nothing. */
static void
describe_form(const struct describing *d, struct json *schema,
    const char *format, const char *pattern, bool nullable)
{
	put_type(d, schema, "string", NULL, nullable);
	put_text(d, schema, "format", format);
	put_text(d, schema, "pattern", pattern);
}

static struct json *
describe_type(const struct describing *d, const struct field *f, bool nullable)
{
	struct json *schema = json_object(d->arena);

	switch (f->type) {
	case FIELD_STR:
		put_type(d, schema, "string", NULL, nullable);
		put_lengths(d, schema, f, "minLength", "maxLength");
		put_form(d, schema, f, nullable);
		break;
	case FIELD_INT:
	case FIELD_OPT_INT:
		put_type(d, schema, "integer", NULL, nullable);
		put_range(d, schema, f);
		break;
	case FIELD_BOOL:
		put_type(d, schema, "boolean", NULL, nullable);
		break;
	case FIELD_DECIMAL:
		describe_decimal(d, schema, nullable);
		break;
	case FIELD_UID:
		describe_form(d, schema, "uuid", NULL, nullable);
		break;
	case FIELD_INSTANT:
		describe_form(d, schema, "date-time", NULL, nullable);
		break;
	case FIELD_DIGEST:
		describe_form(d, schema, NULL, "^[0-9a-f]{64}$", nullable);
		break;
	case FIELD_OBJECT:
		return describe_shape(d, f->of, ANY_PLACE, nullable);
	case FIELD_LIST:
	case FIELD_STR_LIST:
		describe_list(d, schema, f);
		break;
	case FIELD_JSON:
		break; /* anything at all */
	}
	return schema;
}

/* Defaults are text; those of strings stand in the schema as they are. */
static bool
is_text_in_json(const struct field *f)
{
	return f->type == FIELD_STR || f->type == FIELD_DECIMAL ||
	       f->type == FIELD_UID || f->type == FIELD_INSTANT ||
	       f->type == FIELD_DIGEST;
}

static void
put_default(
    const struct describing *d, struct json *schema, const struct field *f)
{
	struct json *v;

	if (!f->def || d->reply)
		return;
	if (is_text_in_json(f))
		v = json_string(d->arena, str_from(f->def));
	else if (json_parse(d->arena, str_from(f->def), &json_limits_default,
		     &v, NULL))
		return; /* a list as "a,b" */
	json_put(schema, "default", v);
}

static struct json *
describe_field(const struct describing *d, const struct field *f)
{
	bool nullable = shape_field_is_nullable(f) &&
			(d->reply ? !f->omit_null : f->place == IN_BODY);
	struct json *schema = describe_type(d, f, nullable);

	put_default(d, schema, f);
	/* A nested shape has a description already; the field's is nearer. */
	if (f->doc && f->type == FIELD_OBJECT && schema->last &&
	    str_is(schema->last->name, "description"))
		schema->last->text = str_from(f->doc);
	else
		put_text(d, schema, "description", f->doc);
	return schema;
}

static bool
is_required(const struct describing *d, const struct field *f)
{
	return d->reply ? !f->omit_null : f->required;
}

static struct json *
describe_shape(const struct describing *d, const struct shape *shape, int place,
    bool nullable)
{
	struct json *schema = json_object(d->arena);
	struct json *properties = json_object(d->arena);
	struct json *required = json_array(d->arena);

	for (size_t i = 0; i < shape->n; i++) {
		const struct field *f = &shape->fields[i];

		if (place != ANY_PLACE && (int)f->place != place)
			continue;
		json_put(properties, f->name, describe_field(d, f));
		if (is_required(d, f))
			json_push(
			    required, json_string(d->arena, str_from(f->name)));
	}
	put_type(d, schema, "object", NULL, nullable);
	json_put(schema, "properties", properties);
	if (required->n > 0)
		json_put(schema, "required", required);
	if (!d->reply)
		json_put(
		    schema, "additionalProperties", json_bool(d->arena, false));
	put_text(d, schema, "description", shape->doc);
	return schema;
}

struct json *
shape_schema(const struct shape *shape, enum field_place place, bool reply,
    struct arena *a)
{
	const struct describing d = { a, reply };

	/* A reply has one place, whatever its fields are in a request. */
	return describe_shape(&d, shape, reply ? ANY_PLACE : (int)place, false);
}
