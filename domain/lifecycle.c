#include "domain/lifecycle.h"

#include <string.h>

#include "ledger/codec/text.h"

#define URL_MAX 2048

const char *
lifecycle_stability(const struct operation *op)
{
	return op->stability ? op->stability : "Stable";
}

const char *
lifecycle_stage(const struct operation *op)
{
	return op->deprecated ? "Deprecated" : "Published";
}

bool
lifecycle_date(const char *date, struct instant *out)
{
	char text[] = "0000-00-00T00:00:00Z";

	if (!date_is_valid(str_from(date)))
		return false;
	memcpy(text, date, 10);
	return instant_parse_rfc3339(str_from(text), out);
}

static bool
add_param(struct buf *b, struct str name, const struct param *params, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (params[i].place == IN_PATH &&
		    str_eq(params[i].name, name)) {
			percent_add(b, params[i].value);
			return true;
		}
	return false;
}

struct str
lifecycle_successor(struct arena *a, const struct operation *op,
    const struct param *params, size_t n)
{
	struct str rest = str_from(op->successor), path = STR_NONE;
	bool complete = true;
	struct buf b;

	buf_init(&b, URL_MAX);
	while (complete && rest.p) {
		buf_add(&b, str_take(&rest, '{'));
		if (rest.p)
			complete =
			    add_param(&b, str_take(&rest, '}'), params, n);
	}
	if (complete && b.n > 0 && !buf_failed(&b))
		path = arena_str(a, buf_str(&b));
	buf_fini(&b);
	return path;
}

static void
put(struct arena *a, struct json *v, const char *name, const char *text)
{
	if (text)
		json_put(v, name, json_string(a, str_from(text)));
}

void
lifecycle_describe(
    struct arena *a, const struct operation *op, struct json *entry)
{
	put(a, entry, "x-product", op->product);
	put(a, entry, "x-stability", lifecycle_stability(op));
	put(a, entry, "x-lifecycle", lifecycle_stage(op));
	put(a, entry, "x-since", op->since);
	if (op->deprecated)
		json_put(entry, "deprecated", json_bool(a, true));
	put(a, entry, "x-deprecated", op->deprecated);
	put(a, entry, "x-sunset", op->sunset);
	put(a, entry, "x-successor", op->successor);
}
