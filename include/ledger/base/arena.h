/*
 * An arena: everything of one request is allocated from it and dies with it.
 * Not for use by two threads at once. Allocation never fails: inputs are
 * capped before they are read, so an arena's size is bounded, and a process
 * that cannot get memory even so ends at once. That is safe, because the
 * ledger loses nothing when its process dies.
 *
 *	struct arena *a = arena_new();
 *	char *s = arena_printf(a, "%d", 7);
 *	arena_free(a);
 */
#ifndef LEDGER_BASE_ARENA_H
#define LEDGER_BASE_ARENA_H

#include "ledger/base/str.h"

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *);

/* Forgets everything but keeps the first block, for a next request. */
void arena_reset(struct arena *);

/* n bytes, zeroed, aligned for any type. */
void *arena_alloc(struct arena *, size_t n);

/* count objects of size bytes, zeroed; ends the process on overflow. */
void *arena_array(struct arena *, size_t count, size_t size);

#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))

/* A copy, NUL after its end. */
struct str arena_str(struct arena *, struct str);
char *arena_cstr(struct arena *, struct str);

__attribute__((format(printf, 2, 3))) char *arena_printf(
    struct arena *, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) struct str arena_strf(
    struct arena *, const char *fmt, ...);

#endif
