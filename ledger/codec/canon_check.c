/*
 * The one place in the codec where speed decides the form: quick verification
 * of a whole ledger is bound by this function. It keeps the way to where it
 * reads on the C stack and spends nothing on it until there is a fault.
 */
#include "ledger/base/swar.h"
#include "ledger/codec/canon.h"
#include "ledger/codec/canon_form.h"
#include "ledger/codec/place.h"

struct reader {
	const char *p, *end, *start;
	struct err *err;
};

/* Error paths are kept out of line, so the reading loops stay small. */
__attribute__((cold, noinline)) static bool
refuse(const struct reader *r, const struct place *at, const char *why)
{
	char text[PLACE_TEXT_MAX];

	place_format(at, false, text);
	err_set(r->err, &err_malformed, "at \"%.300s\", byte %zu: %s", text,
	    (size_t)(r->p - r->start), why);
	return false;
}

static inline bool
next_is(const struct reader *r, char c)
{
	return r->p < r->end && *r->p == c;
}

/* Goes to the next byte that is '"', '\\' or a control character; true in
 * *high when a byte beyond ASCII may have been passed. */
static inline void
skip_plain(struct reader *r, uint64_t *high)
{
	const char *p = r->p;

	for (; r->end - p >= 8; p += 8) {
		uint64_t x = swar_load(p);
		uint64_t marks = swar_mark_control(x) | swar_mark_byte(x, '"') |
				 swar_mark_byte(x, '\\');

		*high |= x & 0x8080808080808080U;
		if (marks) {
			r->p = p + swar_first(marks);
			return;
		}
	}
	while (
	    p < r->end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
		*high |= (unsigned char)*p++ & 0x80;
	r->p = p;
}

/* Value of a lower-case hexadecimal digit, or -1. */
static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* RFC 8785, 3.2.2.2: the one spelling of each character that needs one. */
static bool
read_escape(struct reader *r, const struct place *at)
{
	const char *p = r->p;
	int unit;

	if (r->end - p < 2)
		return refuse(r, at, "the string does not end");
	if (p[1] != 'u') {
		if (p[1] == '\0' || !strchr("\"\\bfnrt", p[1]))
			return refuse(r, at, "not a canonical escape");
		r->p += 2;
		return true;
	}
	if (r->end - p < 6 || p[2] != '0' || p[3] != '0' ||
	    (p[4] != '0' && p[4] != '1') || hex_value(p[5]) < 0)
		return refuse(r, at, "not a canonical escape");
	unit = (p[4] - '0') * 16 + hex_value(p[5]);
	if (unit == 0)
		return refuse(r, at, CANON_FORM_NUL);
	if (strchr("\b\f\n\r\t", unit))
		return refuse(r, at, "not the shortest escape");
	r->p += 6;
	return true;
}

static bool
read_string(struct reader *r, const struct place *at)
{
	const char *from = ++r->p;
	uint64_t high = 0;

	for (;;) {
		skip_plain(r, &high);
		if (r->p == r->end)
			return refuse(r, at, "the string does not end");
		if (*r->p == '"')
			break;
		if (*r->p != '\\')
			return refuse(r, at, "a control character unescaped");
		if (!read_escape(r, at))
			return false;
	}
	if (high && !str_is_utf8((struct str){ from, (size_t)(r->p - from) }))
		return refuse(r, at, "not UTF-8");
	r->p++;
	return true;
}

static bool
read_number(struct reader *r, const struct place *at)
{
	const char *p = r->p, *digits;
	int64_t v = 0;

	if (*p == '-')
		p++;
	digits = p;
	/* 17 digits hold every number in the range and fit the type. */
	while (p < r->end && p - digits < 17 && *p >= '0' && *p <= '9')
		v = v * 10 + (*p++ - '0');
	if (p == digits || v > CANON_FORM_SAFE_INTEGER)
		return refuse(r, at, CANON_FORM_NUMBER);
	if (*digits == '0' && p - r->p > 1)
		return refuse(r, at, "not a canonical number");
	r->p = p;
	return true;
}

static bool
read_word(struct reader *r, const struct place *at, struct str word)
{
	if ((size_t)(r->end - r->p) < word.n ||
	    memcmp(r->p, word.p, word.n) != 0)
		return refuse(r, at, "not JSON");
	r->p += word.n;
	return true;
}

/* Whether a sorts after b; only names that match [a-z][a-z0-9_]* come here, so
 * UTF-16 order is byte order. */
static inline bool
sorts_after(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	while (i < n && a.p[i] == b.p[i])
		i++;
	return i < n ? a.p[i] > b.p[i] : a.n > b.n;
}

static inline bool
read_name(struct reader *r, struct place *inner)
{
	struct str before = inner->name, name;
	const char *p = r->p + 1;

	if (!next_is(r, '"'))
		return refuse(r, inner->up, "a member name must come here");
	while (p < r->end && canon_form_in_name((unsigned char)*p))
		p++;
	name = (struct str){ r->p + 1, (size_t)(p - r->p - 1) };
	if (p == r->end || *p != '"' || name.n == 0 || name.p[0] < 'a')
		return refuse(r, inner->up, CANON_FORM_NAME);
	inner->name = name;
	if (before.p && !sorts_after(name, before))
		return refuse(r, inner, "members must be unique and sorted");
	r->p = p + 1;
	if (!next_is(r, ':'))
		return refuse(r, inner, "\":\" must come here");
	r->p++;
	return true;
}

static bool read_value(struct reader *r, const struct place *at, int depth);

static bool
read_object(struct reader *r, const struct place *at, int depth)
{
	struct place inner = { .up = at };

	r->p++;
	if (next_is(r, '}')) {
		r->p++;
		return true;
	}
	for (;;) {
		if (!read_name(r, &inner) || !read_value(r, &inner, depth))
			return false;
		if (r->p == r->end || (*r->p != ',' && *r->p != '}'))
			return refuse(r, at, "\",\" or \"}\" must come here");
		if (*r->p++ == '}')
			return true;
	}
}

static bool
read_array(struct reader *r, const struct place *at, int depth)
{
	struct place inner = { .up = at };

	r->p++;
	if (next_is(r, ']')) {
		r->p++;
		return true;
	}
	for (;; inner.index++) {
		if (!read_value(r, &inner, depth))
			return false;
		if (r->p == r->end || (*r->p != ',' && *r->p != ']'))
			return refuse(r, at, "\",\" or \"]\" must come here");
		if (*r->p++ == ']')
			return true;
	}
}

static bool
read_value(struct reader *r, const struct place *at, int depth)
{
	if (r->p == r->end)
		return refuse(r, at, "a value must come here");
	switch (*r->p) {
	case '"':
		return read_string(r, at);
	case '{':
	case '[':
		if (depth == CANON_FORM_DEPTH)
			return refuse(r, at, CANON_FORM_TOO_DEEP);
		return *r->p == '{' ? read_object(r, at, depth + 1)
				    : read_array(r, at, depth + 1);
	case 'n':
		return read_word(r, at, STR("null"));
	case 't':
		return read_word(r, at, STR("true"));
	case 'f':
		return read_word(r, at, STR("false"));
	default:
		return read_number(r, at);
	}
}

int
canon_check_event(struct str bytes, struct err *e)
{
	struct reader r = { .p = bytes.p,
		.end = bytes.p ? bytes.p + bytes.n : NULL,
		.start = bytes.p,
		.err = e };

	if (!read_value(&r, NULL, 0))
		return -1;
	if (r.p != r.end) {
		refuse(&r, NULL, "something follows the value");
		return -1;
	}
	return 0;
}
