#include "ledger/codec/canon.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/codec/json_text.h"

/* Up to this many members are sorted without asking for memory. */
#define FEW_MEMBERS 32

/* A tree is built by this program or was parsed under a depth limit; so this
 * only guards against our own mistakes. */
#define DEPTH_MAX 1024

/* Larger than any document that a request or an event can bring. */
#define DOCUMENT_MAX ((size_t)64 * 1024 * 1024)

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void
make_locale(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		abort();
}

/*
 * Order of UTF-16 code units (RFC 8785, 3.2.3), seen from UTF-8: it is the
 * order of bytes, but characters beyond U+FFFF (lead byte 0xf0 and up) come
 * before U+E000 to U+FFFF (lead bytes 0xee and 0xef), because surrogates do.
 */
static int
compare_utf16(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;

	for (size_t i = 0; i < n; i++) {
		unsigned char x = (unsigned char)a.p[i];
		unsigned char y = (unsigned char)b.p[i];

		if (x == y)
			continue;
		if (x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0))
			return x > y ? -1 : 1;
		return x < y ? -1 : 1;
	}
	return (a.n > b.n) - (a.n < b.n);
}

static int
compare_members(const void *a, const void *b)
{
	const struct json *const *left = a, *const *right = b;

	return compare_utf16((*left)->name, (*right)->name);
}

static bool
is_sorted(const struct json *object)
{
	for (const struct json *at = object->first; at && at->next;
	     at = at->next)
		if (compare_utf16(at->name, at->next->name) >= 0)
			return false;
	return true;
}

static int write_value(
    const struct json *v, struct buf *b, int depth, struct err *e);

static int
write_text(struct str s, struct buf *b, struct err *e)
{
	if (!str_is_utf8(s))
		return err_set(e, &err_malformed, "a string is not UTF-8");
	json_text_add(b, s);
	return 0;
}

static int
write_member(const struct json *member, struct buf *b, int depth, struct err *e)
{
	if (write_text(member->name, b, e))
		return -1;
	buf_add_byte(b, ':');
	return write_value(member, b, depth, e);
}

static int
write_sorted(const struct json *object, struct buf *b, int depth, struct err *e)
{
	const struct json *few[FEW_MEMBERS], **members = few;
	size_t n = 0;
	int rc = 0;

	if (object->n > FEW_MEMBERS)
		members = calloc(object->n, sizeof(struct json *));
	if (!members)
		abort();
	for (const struct json *at = object->first; at; at = at->next)
		members[n++] = at;
	qsort(members, n, sizeof(struct json *), compare_members);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (i > 0)
			buf_add_byte(b, ',');
		if (i > 0 && compare_members(&members[i - 1], &members[i]) == 0)
			rc = err_set(e, &err_malformed, "duplicate member");
		else
			rc = write_member(members[i], b, depth, e);
	}
	if (members != few)
		free(members);
	return rc;
}

static int
write_object(const struct json *object, struct buf *b, int depth, struct err *e)
{
	buf_add_byte(b, '{');
	if (!is_sorted(object)) {
		if (write_sorted(object, b, depth, e))
			return -1;
	} else {
		for (const struct json *at = object->first; at; at = at->next) {
			if (at != object->first)
				buf_add_byte(b, ',');
			if (write_member(at, b, depth, e))
				return -1;
		}
	}
	buf_add_byte(b, '}');
	return 0;
}

static int
write_array(const struct json *array, struct buf *b, int depth, struct err *e)
{
	buf_add_byte(b, '[');
	for (const struct json *at = array->first; at; at = at->next) {
		if (at != array->first)
			buf_add_byte(b, ',');
		if (write_value(at, b, depth, e))
			return -1;
	}
	buf_add_byte(b, ']');
	return 0;
}

/* The double nearest to the lexeme, whatever the locale. */
static double
to_double(struct str lexeme)
{
	char few[64], *text = few, *end;
	double d;

	pthread_once(&locale_once, make_locale);
	if (lexeme.n >= sizeof few)
		text = malloc(lexeme.n + 1);
	if (!text)
		abort();
	memcpy(text, lexeme.p, lexeme.n);
	text[lexeme.n] = '\0';
	d = strtod_l(text, &end, c_locale);
	if (text != few)
		free(text);
	return d;
}

static int
write_number(struct str lexeme, struct buf *b, struct err *e)
{
	char text[32];
	int64_t whole;
	double d;

	/* Integers that a double holds exactly stand as they are. */
	if (lexeme.n <= 16 && str_to_i64(lexeme, &whole) && whole != 0 &&
	    whole < INT64_C(1) << 53 && whole > -(INT64_C(1) << 53)) {
		buf_add(b, lexeme);
		return 0;
	}
	d = to_double(lexeme);
	if (!isfinite(d))
		return err_set(e, &err_malformed,
		    "a number is beyond the range of a double");
	canon_number(d, text);
	buf_add_cstr(b, text);
	return 0;
}

static int
write_value(const struct json *v, struct buf *b, int depth, struct err *e)
{
	if (depth > DEPTH_MAX)
		return err_set(e, &err_malformed, "nested too deeply");
	switch (v->type) {
	case JSON_NULL:
		buf_add_cstr(b, "null");
		return 0;
	case JSON_FALSE:
		buf_add_cstr(b, "false");
		return 0;
	case JSON_TRUE:
		buf_add_cstr(b, "true");
		return 0;
	case JSON_NUMBER:
		return write_number(v->text, b, e);
	case JSON_STRING:
		return write_text(v->text, b, e);
	case JSON_ARRAY:
		return write_array(v, b, depth + 1, e);
	case JSON_OBJECT:
		return write_object(v, b, depth + 1, e);
	}
	return err_set(e, &err_internal, "unknown type of JSON value");
}

int
canon_write(const struct json *v, struct buf *b, struct err *e)
{
	return write_value(v, b, 0, e);
}

int
canon_str(struct arena *a, const struct json *v, struct str *out, struct err *e)
{
	struct buf b;
	int rc;

	buf_init(&b, DOCUMENT_MAX);
	rc = canon_write(v, &b, e);
	if (rc == 0 && buf_failed(&b))
		rc = err_set(e, &err_too_large, "the document is too large");
	if (rc == 0)
		*out = arena_str(a, buf_str(&b));
	buf_fini(&b);
	return rc;
}

int
canon_compare_names(struct str a, struct str b)
{
	return compare_utf16(a, b);
}
