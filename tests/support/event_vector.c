#include "tests/support/event_vector.h"

#include <stdio.h>
#include <stdlib.h>

#include "ledger/codec/canon.h"

#define VECTOR_MAX 65536

static _Noreturn void
die(const struct event_type *type, const char *what, const struct err *e)
{
	fprintf(stderr, "%s: %s %s\n", type->name, what, e->detail);
	for (const struct err_field *f = e->fields; f; f = f->next)
		fprintf(stderr, "\t%s: %s\n", f->at, f->detail);
	abort();
}

/* The file without its last line end. */
static struct str
read_vector(struct arena *a, const struct event_type *type)
{
	char *bytes = arena_alloc(a, VECTOR_MAX);
	FILE *f = fopen(
	    arena_printf(a, "tests/vectors/events/%s.json", type->name), "r");
	size_t n = f ? fread(bytes, 1, VECTOR_MAX, f) : 0;

	if (f)
		fclose(f);
	if (n > 0 && bytes[n - 1] == '\n')
		n--;
	return (struct str){ bytes, n };
}

struct str
event_vector_read(const struct event_type *type, struct arena *a, void *data)
{
	struct str bytes = read_vector(a, type);
	struct json *v;
	struct err e = { 0 };

	if (bytes.n == 0)
		die(type, "has no vector", &e);
	if (json_parse(a, bytes, &json_limits_default, &v, &e) ||
	    shape_decode_json(type->data, v, a, data, &e))
		die(type, "does not decode:", &e);
	return bytes;
}

void
event_vector_check(const struct event_type *type)
{
	struct arena *a = arena_new();
	void *data = arena_alloc(a, type->data->size);
	struct str bytes = event_vector_read(type, a, data), again;
	struct err e = { 0 };

	if (canon_event(a, shape_encode(type->data, data, a), &again, &e))
		die(type, "does not encode:", &e);
	if (!str_eq(bytes, again)) {
		fprintf(stderr, "%.*s\n", STR_ARGS(again));
		die(type, "reads otherwise", &e);
	}
	arena_free(a);
}
