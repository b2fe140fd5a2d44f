#include "ledger/codec/text.h"

#include <string.h>

static const char hex_digits[] = "0123456789abcdef";
static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
hex_encode(const void *bytes, size_t n, char *out)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex_digits[p[i] >> 4];
		out[2 * i + 1] = hex_digits[p[i] & 0x0f];
	}
	out[2 * n] = '\0';
}

/* What a digit stands for, plus one; 0 for what is none. */
static const uint8_t hex_values[256] = {
	['0'] = 1,
	2,
	3,
	4,
	5,
	6,
	7,
	8,
	9,
	10,
	['a'] = 11,
	12,
	13,
	14,
	15,
	16,
};

static int
hex_value(char c)
{
	return hex_values[(unsigned char)c] - 1;
}

bool
hex_decode(struct str s, void *out, size_t n)
{
	uint8_t *p = out;

	if (s.n / 2 != n || s.n % 2 != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		int high = hex_value(s.p[2 * i]);
		int low = hex_value(s.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		p[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

void
base64_encode(const void *bytes, size_t n, char *out)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16;

		if (i + 1 < n)
			v |= (uint32_t)p[i + 1] << 8;
		if (i + 2 < n)
			v |= p[i + 2];
		*out++ = base64_digits[v >> 18];
		*out++ = base64_digits[v >> 12 & 63];
		*out++ = i + 1 < n ? base64_digits[v >> 6 & 63] : '=';
		*out++ = i + 2 < n ? base64_digits[v & 63] : '=';
	}
	*out = '\0';
}

void
base64_add(struct buf *b, struct str bytes)
{
	size_t n = BASE64_LENGTH(bytes.n);
	char *at = buf_grow(b, n + 1);

	if (!at)
		return;
	base64_encode(bytes.p, bytes.n, at);
	b->n--; /* the NUL */
}

static const uint8_t base64_values[256] = {
	['A'] = 1,
	2,
	3,
	4,
	5,
	6,
	7,
	8,
	9,
	10,
	11,
	12,
	13,
	14,
	15,
	16,
	17,
	18,
	19,
	20,
	21,
	22,
	23,
	24,
	25,
	26,
	['a'] = 27,
	28,
	29,
	30,
	31,
	32,
	33,
	34,
	35,
	36,
	37,
	38,
	39,
	40,
	41,
	42,
	43,
	44,
	45,
	46,
	47,
	48,
	49,
	50,
	51,
	52,
	['0'] = 53,
	54,
	55,
	56,
	57,
	58,
	59,
	60,
	61,
	62,
	['+'] = 63,
	['/'] = 64,
};

static int
base64_value(char c)
{
	return base64_values[(unsigned char)c] - 1;
}

/* One group of four digits, the last `padding` of them "=". */
static bool
group_decode(const char *p, size_t padding, uint8_t out[3])
{
	uint32_t v = 0;

	for (size_t i = 0; i < 4; i++) {
		int digit = i < 4 - padding ? base64_value(p[i]) : 0;

		if (digit < 0)
			return false;
		v = v << 6 | (uint32_t)digit;
	}
	out[0] = (uint8_t)(v >> 16);
	out[1] = (uint8_t)(v >> 8);
	out[2] = (uint8_t)v;
	return (padding < 1 || out[2] == 0) && (padding < 2 || out[1] == 0);
}

bool
base64_decode(struct str s, void *out, size_t max, size_t *n)
{
	size_t padding = 0, length;
	uint8_t *p = out, group[3];

	if (s.n % 4 != 0)
		return false;
	while (padding < 2 && padding < s.n && s.p[s.n - 1 - padding] == '=')
		padding++;
	length = s.n / 4 * 3 - padding;
	if (length > max)
		return false;
	for (size_t i = 0, left = length; i < s.n; i += 4) {
		size_t take = left < 3 ? left : 3;

		if (!group_decode(s.p + i, 3 - take, group))
			return false;
		memcpy(p, group, take);
		p += take;
		left -= take;
	}
	*n = length;
	return true;
}

static int
any_hex_value(char c)
{
	return hex_value(c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c);
}

bool
percent_decode(
    struct arena *a, struct str s, bool plus_is_space, struct str *out)
{
	char *text = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		int high, low;

		text[n] = s.p[i];
		if (s.p[i] == '+' && plus_is_space)
			text[n] = ' ';
		if (s.p[i] == '%') {
			if (s.n - i < 3)
				return false;
			high = any_hex_value(s.p[i + 1]);
			low = any_hex_value(s.p[i + 2]);
			if (high < 0 || low < 0)
				return false;
			text[n] = (char)(high << 4 | low);
			i += 2;
		}
		if (text[n] == '\0')
			return false;
		n++;
	}
	*out = (struct str){ text, n };
	return str_is_utf8(*out);
}

static bool
is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
	       c == '~';
}

void
percent_add(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (is_unreserved(s.p[i]))
			buf_add_byte(b, (unsigned char)s.p[i]);
		else
			buf_addf(b, "%%%02X", (unsigned char)s.p[i]);
	}
}
