#include "ledger/codec/shape_field.h"

static struct json *
encode_list(const struct field *f, const struct list *list, struct arena *a)
{
	struct json *array = json_array(a);
	const char *items = list->items;

	for (size_t i = 0; i < list->n; i++)
		json_push(
		    array, shape_encode(f->of, items + i * f->of->size, a));
	return array;
}

static struct json *
encode_str_list(const struct str_list *list, struct arena *a)
{
	struct json *array = json_array(a);

	for (size_t i = 0; i < list->n; i++)
		json_push(array, json_string(a, list->items[i]));
	return array;
}

/* A node of its own, because a node belongs to one tree; what is below it is
 * only looked at and is shared. */
static struct json *
encode_json(const struct json *v, struct arena *a)
{
	struct json *node = json_null(a);

	if (!v)
		return node;
	*node = *v;
	node->next = NULL;
	node->name = STR_NONE;
	return node;
}

static struct json *
encode_uid(struct uid uid, struct arena *a)
{
	char text[UID_TEXT + 1];

	if (uid_is_none(uid))
		return json_null(a);
	uid_format(uid, text);
	return json_string(a, arena_str(a, str_from(text)));
}

static struct json *
encode_instant(struct instant t, struct arena *a)
{
	char text[INSTANT_TEXT + 1];

	if (t.us == 0)
		return json_null(a);
	instant_format(t, text);
	return json_string(a, arena_str(a, str_from(text)));
}

static struct json *
encode_opt_int(const struct opt_int *v, struct arena *a)
{
	return v->set ? json_int(a, v->v) : json_null(a);
}

static struct json *
encode_field(const struct field *f, const void *slot, struct arena *a)
{
	const void *nested;

	switch (f->type) {
	case FIELD_STR:
		return json_string(a, *(const struct str *)slot);
	case FIELD_INT:
		return json_int(a, *(const int64_t *)slot);
	case FIELD_OPT_INT:
		return encode_opt_int(slot, a);
	case FIELD_BOOL:
		return json_bool(a, *(const bool *)slot);
	case FIELD_DECIMAL:
		return json_string(a, ((const struct decimal *)slot)->text);
	case FIELD_UID:
		return encode_uid(*(const struct uid *)slot, a);
	case FIELD_INSTANT:
		return encode_instant(*(const struct instant *)slot, a);
	case FIELD_DIGEST:
		return json_string(a, ((const struct digest_text *)slot)->hex);
	case FIELD_JSON:
		return encode_json(*(const struct json *const *)slot, a);
	case FIELD_OBJECT:
		nested = *(const void *const *)slot;
		return nested ? shape_encode(f->of, nested, a) : json_null(a);
	case FIELD_LIST:
		return encode_list(f, slot, a);
	case FIELD_STR_LIST:
		return encode_str_list(slot, a);
	}
	return json_null(a);
}

/* A list is never null; left out is one without items. */
static bool
is_omitted(const struct field *f, const struct json *v)
{
	bool list = f->type == FIELD_LIST || f->type == FIELD_STR_LIST;

	return f->omit_null && (v->type == JSON_NULL || (list && v->n == 0));
}

struct json *
shape_encode(const struct shape *shape, const void *from, struct arena *a)
{
	struct json *object = json_object(a);

	for (size_t i = 0; i < shape->n; i++) {
		const struct field *f = &shape->fields[i];
		struct json *v =
		    encode_field(f, (const char *)from + f->offset, a);

		if (!is_omitted(f, v))
			json_put(object, f->name, v);
	}
	return object;
}
