#include "domain/applications/base62.h"

#include <assert.h>
#include <string.h>

#define BYTES_MAX 64

static const char alphabet[] =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* Long division by 62; gives the remainder. */
static unsigned
divide(uint8_t *number, size_t n)
{
	unsigned rest = 0;

	for (size_t i = 0; i < n; i++) {
		rest = rest << 8 | number[i];
		number[i] = (uint8_t)(rest / 62);
		rest %= 62;
	}
	return rest;
}

void
base62_encode(const uint8_t *bytes, size_t n, char *out, size_t digits)
{
	uint8_t number[BYTES_MAX];

	assert(n <= BYTES_MAX);
	memcpy(number, bytes, n);
	out[digits] = '\0';
	for (size_t i = digits; i > 0; i--)
		out[i - 1] = alphabet[divide(number, n)];
	explicit_bzero(number, sizeof number);
}

bool
base62_is_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\0' || !strchr(alphabet, s.p[i]))
			return false;
	return s.n > 0;
}
