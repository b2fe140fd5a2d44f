/*
 * The rows' examples in the OpenAPI document.
 */
#include "domain/examples.h"
#include "domain/openapi.h"

/* A row whose examples cannot be read fails the catalog's check; here it has
 * none. */
static const struct example *
list_of(struct arena *a, const struct operation *op, size_t *n)
{
	const struct example *list;

	if (examples_read(op, a, &list, n, NULL))
		*n = 0;
	return list;
}

static void
put_example(struct arena *a, struct json *media, const struct example *example,
    const struct json *value)
{
	struct json *all = json_get(media, "examples"), *v = json_object(a);

	if (!all) {
		all = json_object(a);
		json_put(media, "examples", all);
	}
	json_put_str(a, v, "summary", example->summary);
	json_put(v, "value", json_copy(a, value));
	json_put(all, arena_cstr(a, example->name), v);
}

static const struct json *
body_of(const struct example *example)
{
	const struct example_request *request = example->request;

	return request ? request->body : NULL;
}

/* A body that is refused for its form is no example of the schema. */
static bool
is_valid_request(const struct example *example)
{
	return example->status < 400 ||
	       !str_is(
		   json_get_str(example->reply, "code"), "validation_failed");
}

void
openapi_put_requests(
    struct arena *a, const struct operation *op, struct json *media)
{
	size_t n;
	const struct example *list = list_of(a, op, &n);

	for (size_t i = 0; i < n; i++)
		if (body_of(&list[i]) && is_valid_request(&list[i]))
			put_example(a, media, &list[i], body_of(&list[i]));
}

void
openapi_put_replies(
    struct arena *a, const struct operation *op, int status, struct json *media)
{
	size_t n;
	const struct example *list = list_of(a, op, &n);

	for (size_t i = 0; i < n; i++)
		if (list[i].status == status && list[i].reply)
			put_example(a, media, &list[i], list[i].reply);
}

bool
openapi_has_reply(struct arena *a, const struct operation *op, int status)
{
	size_t n;
	const struct example *list = list_of(a, op, &n);

	for (size_t i = 0; i < n; i++)
		if (list[i].status == status && list[i].reply)
			return true;
	return false;
}

void
openapi_put_value(struct arena *a, const struct operation *op,
    const struct field *f, struct json *parameter)
{
	size_t n;
	const struct example *list = list_of(a, op, &n);

	for (size_t i = 0; i < n; i++) {
		const struct example_request *request = list[i].request;
		const struct json *v = NULL;

		if (request && list[i].status < 400)
			v = json_get(f->place == IN_PATH ? request->path
							 : request->query,
			    f->name);
		if (v) {
			json_put(parameter, "example", json_copy(a, v));
			return;
		}
	}
}
