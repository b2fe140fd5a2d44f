/*
 * JSON (RFC 8259) read in one go from a source that may be much larger than
 * memory: arrays and objects are walked through, one member after the other,
 * and each value is taken whole up to a maximum, passed over, or, if it is a
 * long string, given in pieces. Nothing is kept but a buffer of 64 KiB and the
 * value at hand.
 *
 * In the canonical form (RFC 8785) everything that is walked through or taken
 * is checked to be in it; what is passed over is not.
 *
 *	struct json_walk *w = json_walk_new(read, arg, 0, false);
 *	if (json_walk_open(w, JSON_OBJECT, e))
 *		…
 *	while ((more = json_walk_next(w, &name, e)) > 0)
 *		if (json_walk_value(w, a, 65536, &v, e))
 *			…
 *	json_walk_free(w);
 */
#ifndef LEDGER_CODEC_JSON_WALK_H
#define LEDGER_CODEC_JSON_WALK_H

#include "ledger/codec/json.h"

struct json_walk;

/* Up to `room` bytes at `to`; *n 0 at the end. */
typedef int json_walk_read(
    void *arg, char *to, size_t room, size_t *n, struct err *);

/* Faults of the text are err_malformed, with the byte's offset, which counts
 * from `from` at the source's first byte; those of the source are passed on. */
struct json_walk *json_walk_new(
    json_walk_read *read, void *arg, uint64_t from, bool canonical);
void json_walk_free(struct json_walk *);

/* Enters the array or object that comes next; at most 16 are open at once. */
int json_walk_open(struct json_walk *, enum json_type, struct err *);

/*
 * 1 before the next member, whose value the caller then opens, takes, passes
 * over or reads; 0 when the innermost array or object has ended and was left.
 * The name, at most 1024 bytes, is borrowed until the next call; no value in
 * an array. Names that repeat are refused in the canonical form only.
 */
int json_walk_next(struct json_walk *, struct str *name, struct err *);

/* The value that comes next as a tree in the arena; err_too_large when its text
 * has more than max bytes. */
int json_walk_value(struct json_walk *, struct arena *, size_t max,
    struct json **out, struct err *);

/* Over the value that comes next, whatever it holds: only where it ends is
 * looked for. Where it begins is left in *from, unless that is NULL. */
int json_walk_skip(struct json_walk *, uint64_t *from, struct err *);

/* A string without any escape, its characters in pieces of any length. */
int json_walk_string(struct json_walk *,
    int (*piece)(void *arg, struct str, struct err *), void *arg, struct err *);

/* That nothing follows. */
int json_walk_end(struct json_walk *, struct err *);

/* The offset of the next byte. */
uint64_t json_walk_at(const struct json_walk *);

#endif
