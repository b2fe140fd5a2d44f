#include "ledger/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK  ((size_t)32 * 1024)
#define LARGEST_STEP ((size_t)1024 * 1024)
#define KEPT_MOST    ((size_t)256 * 1024)
#define ALIGNMENT    alignof(max_align_t)

struct block {
	struct block *next;
	size_t used, room;
	alignas(max_align_t) char bytes[];
};

/* blocks is a stack, newest first; the oldest is kept by a reset. A large
 * piece is a block of its own in the other list, so that what is left of the
 * newest block is not wasted. */
struct arena {
	struct block *blocks;
	struct block *large;
	size_t step;
};

_Noreturn static void
give_up(const char *why)
{
	fprintf(stderr, "arena: %s\n", why);
	abort();
}

static struct block *
block_new(size_t room)
{
	struct block *block;

	if (room > SIZE_MAX / 2)
		give_up("too much asked for");
	block = malloc(sizeof *block + room);
	if (!block)
		give_up("no memory");
	block->next = NULL;
	block->used = 0;
	block->room = room;
	return block;
}

struct arena *
arena_new(void)
{
	struct arena *a = malloc(sizeof *a);

	if (!a)
		give_up("no memory");
	a->blocks = block_new(FIRST_BLOCK);
	a->large = NULL;
	a->step = FIRST_BLOCK;
	return a;
}

static void
drop(struct block **list, const struct block *end)
{
	while (*list != end) {
		struct block *older = (*list)->next;

		free(*list);
		*list = older;
	}
}

void
arena_free(struct arena *a)
{
	if (!a)
		return;
	arena_reset(a);
	free(a->blocks);
	free(a);
}

static size_t
used(const struct block *list)
{
	size_t n = 0;

	for (; list; list = list->next)
		n += list->used;
	return n;
}

/* What is kept grows to what one request needed, so that the next one of its
 * kind asks malloc for nothing. */
void
arena_reset(struct arena *a)
{
	size_t need = used(a->blocks) + used(a->large);
	struct block *oldest = a->blocks;

	while (oldest->next)
		oldest = oldest->next;
	drop(&a->blocks, oldest);
	drop(&a->large, NULL);
	if (need > oldest->room && oldest->room < KEPT_MOST) {
		free(oldest);
		need += need / 2;
		oldest = block_new(need < KEPT_MOST ? need : KEPT_MOST);
		a->blocks = oldest;
	}
	oldest->used = 0;
	a->step = FIRST_BLOCK;
}

static void *
take_block(struct arena *a, size_t n)
{
	bool large = n > a->step / 4;
	struct block **list = large ? &a->large : &a->blocks;
	struct block *block;

	if (!large && a->step < LARGEST_STEP)
		a->step *= 2;
	block = block_new(large ? n : a->step);
	block->used = n;
	block->next = *list;
	*list = block;
	return block->bytes;
}

static void *
take(struct arena *a, size_t n)
{
	struct block *top = a->blocks;
	void *p;

	if (n > SIZE_MAX / 4)
		give_up("too much asked for");
	n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (n > top->room - top->used)
		return take_block(a, n);
	p = top->bytes + top->used;
	top->used += n;
	return p;
}

void *
arena_alloc(struct arena *a, size_t n)
{
	/* Two calls of size 0 give two addresses, as malloc does. */
	return memset(take(a, n ? n : 1), 0, n);
}

void *
arena_array(struct arena *a, size_t count, size_t size)
{
	size_t n;

	if (__builtin_mul_overflow(count, size, &n))
		give_up("too much asked for");
	return arena_alloc(a, n);
}

char *
arena_cstr(struct arena *a, struct str s)
{
	char *copy;

	if (!s.p)
		return NULL;
	copy = take(a, s.n + 1);
	if (s.n)
		memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	return copy;
}

struct str
arena_str(struct arena *a, struct str s)
{
	return (struct str){ arena_cstr(a, s), s.n };
}

__attribute__((format(printf, 2, 0))) static struct str
format_str(struct arena *a, const char *fmt, va_list ap)
{
	char small[256], *text;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof small, fmt, ap);
	if (n < 0)
		give_up("bad format");
	text = take(a, (size_t)n + 1);
	if ((size_t)n < sizeof small)
		memcpy(text, small, (size_t)n + 1);
	else
		vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	return (struct str){ text, (size_t)n };
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	struct str s;
	va_list ap;

	va_start(ap, fmt);
	s = format_str(a, fmt, ap);
	va_end(ap);
	return (char *)(uintptr_t)s.p;
}

struct str
arena_strf(struct arena *a, const char *fmt, ...)
{
	struct str s;
	va_list ap;

	va_start(ap, fmt);
	s = format_str(a, fmt, ap);
	va_end(ap);
	return s;
}
