#include "ledger/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_ROOM 256

void
buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max };
}

void
buf_fini(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ .max = b->max };
}

void
buf_reset(struct buf *b)
{
	b->n = 0;
	b->failed = false;
}

static void
make_room(struct buf *b, size_t need)
{
	size_t room = b->room < SMALLEST_ROOM ? SMALLEST_ROOM : b->room;

	while (room < need)
		room = room > SIZE_MAX / 2 ? need : room * 2;
	if (room > b->max)
		room = b->max ? b->max : 1;
	b->p = realloc(b->p, room);
	/* As with an arena: maxima bound memory, so this is a lost machine. */
	if (!b->p)
		abort();
	b->room = room;
}

char *
buf_grow(struct buf *b, size_t n)
{
	if (b->failed || n > b->max - b->n) {
		b->failed = true;
		return NULL;
	}
	if (n > b->room - b->n || !b->p)
		make_room(b, b->n + n);
	b->n += n;
	return b->p + b->n - n;
}

void
buf_add(struct buf *b, struct str s)
{
	char *at;

	if (s.n == 0)
		return;
	at = buf_grow(b, s.n);
	if (at)
		memcpy(at, s.p, s.n);
}

void
buf_add_cstr(struct buf *b, const char *s)
{
	buf_add(b, str_from(s));
}

void
buf_add_byte(struct buf *b, unsigned char c)
{
	char *at = buf_grow(b, 1);

	if (at)
		*at = (char)c;
}

void
buf_add_u32be(struct buf *b, uint32_t v)
{
	char *at = buf_grow(b, 4);

	for (int i = 0; at && i < 4; i++)
		at[i] = (char)(v >> (24 - 8 * i));
}

void
buf_add_u64be(struct buf *b, uint64_t v)
{
	char *at = buf_grow(b, 8);

	for (int i = 0; at && i < 8; i++)
		at[i] = (char)(v >> (56 - 8 * i));
}

void
buf_addf(struct buf *b, const char *fmt, ...)
{
	char small[256], *large;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if ((size_t)n < sizeof small) {
		buf_add(b, (struct str){ small, (size_t)n });
		return;
	}
	if (b->failed || (size_t)n > b->max - b->n) {
		b->failed = true;
		return;
	}
	large = malloc((size_t)n + 1);
	if (!large)
		abort();
	va_start(ap, fmt);
	vsnprintf(large, (size_t)n + 1, fmt, ap);
	va_end(ap);
	buf_add(b, (struct str){ large, (size_t)n });
	free(large);
}

bool
buf_failed(const struct buf *b)
{
	return b->failed;
}

struct str
buf_str(const struct buf *b)
{
	return (struct str){ b->p ? b->p : "", b->n };
}
