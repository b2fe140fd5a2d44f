/*
 * Whatever json_parse accepts must be writable, must parse again to the same
 * bytes, and, canonicalised, must be its own canonical form.
 */
#include <stdlib.h>

#include "ledger/codec/canon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str
written(struct arena *a, const struct json *v, bool pretty)
{
	struct buf b;
	struct str out;

	buf_init(&b, (size_t)64 * 1024 * 1024);
	if (pretty)
		json_write_pretty(v, &b);
	else
		json_write(v, &b);
	if (buf_failed(&b))
		abort();
	out = arena_str(a, buf_str(&b));
	buf_fini(&b);
	return out;
}

static struct json *
must_parse(struct arena *a, struct str text)
{
	struct json_limits limits = { SIZE_MAX, 64, SIZE_MAX };
	struct err e = { 0 };
	struct json *v;

	if (json_parse(a, text, &limits, &v, &e))
		abort();
	return v;
}

static void
check(struct arena *a, struct json *v)
{
	struct str text = written(a, v, false), once, again;
	struct err e = { 0 };

	if (!str_is_utf8(text))
		abort();
	if (!str_eq(text, written(a, must_parse(a, text), false)))
		abort();
	if (!str_eq(
		text, written(a, must_parse(a, written(a, v, true)), false)))
		abort();
	if (canon_str(a, v, &once, &e))
		return; /* a number beyond the range */
	if (canon_str(a, must_parse(a, once), &again, &e) ||
	    !str_eq(once, again))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct json *v;
	struct str text = { (const char *)data, size };

	if (json_parse(a, text, &json_limits_default, &v, &e) == 0)
		check(a, v);
	else if (!e.kind)
		abort();
	arena_free(a);
	return 0;
}
