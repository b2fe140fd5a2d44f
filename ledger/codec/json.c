#include "ledger/codec/json.h"

#include <string.h>

#define SAFE_INTEGER INT64_C(9007199254740991)

struct json *
json_get(const struct json *v, const char *name)
{
	size_t n = strlen(name);

	if (!v || v->type != JSON_OBJECT)
		return NULL;
	for (struct json *at = v->first; at; at = at->next)
		if (at->name.n == n && memcmp(at->name.p, name, n) == 0)
			return at;
	return NULL;
}

struct str
json_get_str(const struct json *v, const char *name)
{
	const struct json *member = json_get(v, name);

	return member && member->type == JSON_STRING ? member->text : STR_NONE;
}

bool
json_get_int(const struct json *v, const char *name, int64_t *out)
{
	const struct json *member = json_get(v, name);
	int64_t value;

	if (!member || member->type != JSON_NUMBER ||
	    !str_to_i64(member->text, &value) || value > SAFE_INTEGER ||
	    value < -SAFE_INTEGER)
		return false;
	*out = value;
	return true;
}

static struct json *
node_new(struct arena *a, enum json_type type, struct str text)
{
	struct json *v = ARENA_NEW(a, struct json);

	v->type = type;
	v->text = text;
	return v;
}

struct json *
json_null(struct arena *a)
{
	return node_new(a, JSON_NULL, STR_NONE);
}

struct json *
json_bool(struct arena *a, bool value)
{
	return node_new(a, value ? JSON_TRUE : JSON_FALSE, STR_NONE);
}

struct json *
json_int(struct arena *a, int64_t value)
{
	return node_new(
	    a, JSON_NUMBER, arena_strf(a, "%lld", (long long)value));
}

struct json *
json_string(struct arena *a, struct str text)
{
	return node_new(a, text.p ? JSON_STRING : JSON_NULL, text);
}

struct json *
json_array(struct arena *a)
{
	return node_new(a, JSON_ARRAY, STR_NONE);
}

struct json *
json_object(struct arena *a)
{
	return node_new(a, JSON_OBJECT, STR_NONE);
}

/* A number is what is written as its text. */
struct json *
json_written(struct arena *a, struct str text)
{
	return node_new(a, JSON_NUMBER, text);
}

void
json_push(struct json *array, struct json *child)
{
	child->next = NULL;
	if (array->last)
		array->last->next = child;
	else
		array->first = child;
	array->last = child;
	array->n++;
}

void
json_put(struct json *object, const char *name, struct json *child)
{
	child->name = str_from(name);
	json_push(object, child);
}

void
json_put_str(
    struct arena *a, struct json *object, const char *name, struct str text)
{
	json_put(object, name, json_string(a, text));
}

void
json_put_int(
    struct arena *a, struct json *object, const char *name, int64_t value)
{
	json_put(object, name, json_int(a, value));
}

struct json *
json_copy(struct arena *a, const struct json *v)
{
	struct json *copy = node_new(a, v->type, v->text);

	for (const struct json *at = v->first; at; at = at->next) {
		struct json *child = json_copy(a, at);

		child->name = at->name;
		json_push(copy, child);
	}
	return copy;
}
