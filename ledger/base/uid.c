#include "ledger/base/uid.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MS_BYTES 6

static pthread_mutex_t newest_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uid newest;

static void
stamp_version(struct uid *u)
{
	u->b[6] = (uint8_t)(0x70 | (u->b[6] & 0x0f));
	u->b[8] = (uint8_t)(0x80 | (u->b[8] & 0x3f));
}

struct uid
uid_from(struct instant at, const uint8_t random[10])
{
	uint64_t ms = (uint64_t)at.us / 1000;
	struct uid u;

	for (int i = 0; i < MS_BYTES; i++)
		u.b[i] = (uint8_t)(ms >> (40 - 8 * i));
	memcpy(u.b + MS_BYTES, random, 10);
	stamp_version(&u);
	return u;
}

/* Adds one to the number that the free bits form. */
static void
count_up(struct uid *u)
{
	for (int i = 15; i >= 0; i--) {
		uint8_t free = i == 6 ? 0x0f : i == 8 ? 0x3f : 0xff;

		u->b[i] = (uint8_t)((u->b[i] + 1) & free);
		if (u->b[i])
			break;
	}
	stamp_version(u);
}

struct uid
uid_new(void)
{
	uint8_t random[10];
	struct uid u;

	random_bytes(random, sizeof random);
	u = uid_from(clock_system.wall(&clock_system), random);
	pthread_mutex_lock(&newest_lock);
	/* Within one millisecond, or when the clock was set back. */
	if (memcmp(u.b, newest.b, sizeof u.b) <= 0) {
		u = newest;
		count_up(&u);
	}
	newest = u;
	pthread_mutex_unlock(&newest_lock);
	return u;
}

static bool
is_dash_place(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

void
uid_format(struct uid u, char out[UID_TEXT + 1])
{
	static const char digits[] = "0123456789abcdef";
	char *p = out;

	for (size_t i = 0; i < sizeof u.b; i++) {
		if (is_dash_place((size_t)(p - out)))
			*p++ = '-';
		*p++ = digits[u.b[i] >> 4];
		*p++ = digits[u.b[i] & 0x0f];
	}
	*p = '\0';
}

/* The digit's value and one, so that 0 is left for what is no digit. Every
 * event holds several of these texts. */
static const uint8_t digit_values[256] = { ['0'] = 1,
	['1'] = 2,
	['2'] = 3,
	['3'] = 4,
	['4'] = 5,
	['5'] = 6,
	['6'] = 7,
	['7'] = 8,
	['8'] = 9,
	['9'] = 10,
	['a'] = 11,
	['b'] = 12,
	['c'] = 13,
	['d'] = 14,
	['e'] = 15,
	['f'] = 16,
	['A'] = 11,
	['B'] = 12,
	['C'] = 13,
	['D'] = 14,
	['E'] = 15,
	['F'] = 16 };

bool
uid_parse(struct str s, struct uid *out)
{
	struct uid u;
	size_t at = 0;

	if (s.n != UID_TEXT)
		return false;
	for (size_t i = 0; i < sizeof u.b; i++) {
		unsigned high, low;

		if (is_dash_place(at) && s.p[at++] != '-')
			return false;
		high = digit_values[(unsigned char)s.p[at++]];
		low = digit_values[(unsigned char)s.p[at++]];
		if (high == 0 || low == 0)
			return false;
		u.b[i] = (uint8_t)((high - 1) << 4 | (low - 1));
	}
	*out = u;
	return true;
}

bool
uid_eq(struct uid a, struct uid b)
{
	return memcmp(a.b, b.b, sizeof a.b) == 0;
}

bool
uid_is_none(struct uid u)
{
	return uid_eq(u, (struct uid){ { 0 } });
}

void
random_bytes(void *out, size_t n)
{
	uint8_t *p = out;

	while (n > 0) {
		ssize_t got = getrandom(p, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			abort();
		p += got;
		n -= (size_t)got;
	}
}
