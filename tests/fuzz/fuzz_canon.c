/*
 * The two readers of the events' form against each other: canon_check_event
 * must accept exactly the bytes that json_parse and canon_event give back
 * unchanged. What a parsable input becomes as an event is checked as well, so
 * that mutations of it reach deep into the form.
 */
#include <stdlib.h>

#include "ledger/codec/canon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
passes_slowly(struct arena *a, struct str bytes, struct str *event)
{
	struct err e = { 0 };
	struct json *v;

	*event = STR_NONE;
	if (json_parse(a, bytes, &json_limits_default, &v, &e) ||
	    canon_event(a, v, event, &e)) {
		if (!e.kind)
			abort();
		return false;
	}
	return str_eq(*event, bytes);
}

static bool
passes_quickly(struct str bytes)
{
	struct err e = { 0 };
	int rc = canon_check_event(bytes, &e);

	if ((rc != 0) != (e.kind != NULL))
		abort();
	return rc == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	/* A copy of exactly this size, so that reading past it is seen. */
	char *copy = malloc(size ? size : 1);
	struct str bytes = { copy, size }, event;

	if (!copy)
		abort();
	for (size_t i = 0; i < size; i++)
		copy[i] = (char)data[i];
	if (passes_slowly(a, bytes, &event) != passes_quickly(bytes))
		abort();
	if (event.p && !passes_quickly(event))
		abort();
	free(copy);
	arena_free(a);
	return 0;
}
