#include "ledger/base/str.h"

#include <string.h>

struct str
str_from(const char *cstr)
{
	return (struct str){ cstr, cstr ? strlen(cstr) : 0 };
}

bool
str_eq(struct str a, struct str b)
{
	if (!a.p || !b.p)
		return a.p == b.p;
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

bool
str_is(struct str a, const char *cstr)
{
	return str_eq(a, str_from(cstr));
}

int
str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order;

	if (!a.p || !b.p)
		return (a.p != NULL) - (b.p != NULL);
	order = memcmp(a.p, b.p, n);
	return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool
str_has_prefix(struct str s, struct str prefix)
{
	return s.n >= prefix.n &&
	       (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool
str_has_suffix(struct str s, struct str suffix)
{
	return s.n >= suffix.n &&
	       (suffix.n == 0 ||
		   memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

size_t
str_find(struct str s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : s.n;
}

struct str
str_slice(struct str s, size_t from, size_t to)
{
	if (!s.p)
		return s;
	if (to > s.n)
		to = s.n;
	if (from > to)
		from = to;
	return (struct str){ s.p + from, to - from };
}

struct str
str_take(struct str *rest, char c)
{
	struct str all = *rest;
	size_t at = str_find(all, c);

	*rest = at == all.n ? STR_NONE : str_slice(all, at + 1, all.n);
	return str_slice(all, 0, at);
}

bool
str_to_u64(struct str s, uint64_t *out)
{
	uint64_t v = 0;

	if (s.n == 0 || s.n > 20 || (s.n > 1 && s.p[0] == '0'))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';

		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*out = v;
	return true;
}

bool
str_to_i64(struct str s, int64_t *out)
{
	bool minus = s.n > 0 && s.p[0] == '-';
	uint64_t v;

	if (!str_to_u64(minus ? str_slice(s, 1, s.n) : s, &v) ||
	    v > (uint64_t)INT64_MAX + minus)
		return false;
	*out = minus ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

/* Length of the multi-byte sequence at p, 0 when it is not well-formed
 * (table 3-7 of the Unicode Standard). */
static size_t
sequence_length(const unsigned char *p, size_t room)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (room < n || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

bool
str_is_utf8(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0, n;
	uint64_t eight;

	while (i < s.n) {
		if (s.n - i >= 8) {
			memcpy(&eight, p + i, 8);
			if (!(eight & 0x8080808080808080U)) {
				i += 8;
				continue;
			}
		}
		if (p[i] < 0x80) {
			i++;
			continue;
		}
		n = sequence_length(p + i, s.n - i);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

size_t
str_code_points(struct str s)
{
	size_t count = 0;

	for (size_t i = 0; i < s.n; i++)
		count += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return count;
}
