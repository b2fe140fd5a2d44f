#include "fcgi/headers.h"

#include <string.h>

#include "fcgi/transport.h"

/* The fields that come once, by their name in prose. */
static const struct single {
	const char *name, *title;
	bool comma; /* one field may hold commas */
} singles[] = {
	{ "authorization", "Authorization", true },
	{ "content-digest", "Content-Digest", true },
	{ "content-length", "Content-Length", false },
	{ "content-type", "Content-Type", true },
	{ "host", "Host", false },
	{ "idempotency-key", "Idempotency-Key", true },
	{ "signature", "Signature", true },
	{ "signature-input", "Signature-Input", true },
};

static const struct single *
single_find(struct str name)
{
	for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++)
		if (str_is(name, singles[i].name))
			return &singles[i];
	return NULL;
}

struct str
header_trim(struct str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = str_slice(s, 1, s.n);
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

int
header_fault(struct err *e, struct arena *a, const char *name, const char *code,
    const char *detail)
{
	err_set(e, &err_malformed, "%s %s", name, detail);
	return err_add_field(e, a, "header", name, code, "%s", detail);
}

/* HTTP_IDEMPOTENCY_KEY as idempotency-key. */
static struct str
field_name(struct arena *a, struct str s)
{
	char *name = arena_cstr(a, s);

	for (char *p = name; *p; p++) {
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
		else if (*p == '_')
			*p = '-';
	}
	return (struct str){ name, s.n };
}

static bool
has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

static struct header *
find(const struct headers *headers, struct str name)
{
	for (size_t i = 0; i < headers->n; i++)
		if (str_eq(headers->items[i].name, name))
			return &headers->items[i];
	return NULL;
}

static int
add(struct headers *out, struct arena *a, struct str name, struct str value,
    struct err *e)
{
	const struct single *single = single_find(name);
	const char *title = single ? single->title : arena_cstr(a, name);
	struct header *there = find(out, name);

	if (name.n == 0)
		return 0;
	if (has_control(value))
		return header_fault(
		    e, a, title, "characters", "holds control characters");
	if (there && single)
		return header_fault(
		    e, a, title, "repeated", "may be sent once only");
	if (single && !single->comma && str_find(value, ',') < value.n)
		return header_fault(
		    e, a, title, "repeated", "may be sent once only");
	if (there) {
		there->value = arena_strf(
		    a, "%.*s, %.*s", STR_ARGS(there->value), STR_ARGS(value));
		return 0;
	}
	if (out->n == HEADERS_MAX)
		return err_set(e, &err_headers_too_large,
		    "more than %d header fields", HEADERS_MAX);
	out->items[out->n++] = (struct header){ name, value };
	return 0;
}

/*
 * nginx passes these two by their CGI names and as HTTP_ ones. As long as both
 * say the same, that is no repeat.
 */
static bool
repeats_cgi(const char *const *params, struct str name, struct str value)
{
	if (str_eq(name, STR("content-type")))
		return str_eq(
		    header_trim(transport_param(params, "CONTENT_TYPE")),
		    value);
	if (str_eq(name, STR("content-length")))
		return str_eq(
		    header_trim(transport_param(params, "CONTENT_LENGTH")),
		    value);
	return false;
}

/* One parameter; sizes are counted before anything is kept. */
static int
read_param(const char *const *params, struct str param, size_t *total,
    struct arena *a, struct headers *out, struct err *e)
{
	struct str value = param, name = str_take(&value, '=');
	bool http = str_has_prefix(name, STR("HTTP_"));

	if (http)
		name = str_slice(name, 5, name.n);
	else if (!str_eq(name, STR("CONTENT_TYPE")) &&
		 !str_eq(name, STR("CONTENT_LENGTH")))
		return 0;
	*total += param.n;
	if (param.n > HEADER_BYTES_MAX || *total > HEADERS_BYTES_MAX)
		return err_set(e, &err_headers_too_large,
		    "a header field may have %d bytes, all together %d",
		    HEADER_BYTES_MAX, HEADERS_BYTES_MAX);
	value = header_trim(value);
	if (!http && value.n == 0)
		return 0;
	name = field_name(a, name);
	if (http && repeats_cgi(params, name, value))
		return 0;
	return add(out, a, name, value, e);
}

int
headers_read(const char *const *params, struct arena *a, struct headers *out,
    struct err *e)
{
	size_t total = 0;

	out->items = arena_array(a, HEADERS_MAX, sizeof *out->items);
	out->n = 0;
	for (const char *const *p = params; *p; p++)
		if (read_param(params, str_from(*p), &total, a, out, e))
			return -1;
	return 0;
}

struct str
headers_get(const struct headers *headers, const char *name)
{
	const struct header *h = find(headers, str_from(name));

	return h ? h->value : STR_NONE;
}
