#include "ledger/codec/json_walk.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/codec/canon.h"

#define ROOM       65536
#define DEPTH_MAX  16
#define NAME_MAX   1024
#define SCALAR_MAX 64
#define NODES_MAX  200000
#define NESTED_MAX 64

/* An array or object that is open. */
struct level {
	bool is_object, any;
	struct buf name; /* canonical form: of the member before */
};

struct json_walk {
	json_walk_read *read;
	void *arg;
	bool canonical, ended;
	uint64_t before; /* bytes of the source before the buffer's */
	size_t at, n;
	struct level levels[DEPTH_MAX];
	unsigned depth;
	struct buf text, again;
	struct arena *scratch;
	char bytes[ROOM];
};

struct json_walk *
json_walk_new(json_walk_read *read, void *arg, uint64_t from, bool canonical)
{
	struct json_walk *w = calloc(1, sizeof *w);

	if (!w)
		abort();
	w->read = read;
	w->arg = arg;
	w->before = from;
	w->canonical = canonical;
	w->scratch = arena_new();
	for (size_t i = 0; i < DEPTH_MAX; i++)
		buf_init(&w->levels[i].name, NAME_MAX);
	buf_init(&w->text, SIZE_MAX / 2);
	buf_init(&w->again, SIZE_MAX / 2);
	return w;
}

void
json_walk_free(struct json_walk *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < DEPTH_MAX; i++)
		buf_fini(&w->levels[i].name);
	buf_fini(&w->text);
	buf_fini(&w->again);
	arena_free(w->scratch);
	free(w);
}

uint64_t
json_walk_at(const struct json_walk *w)
{
	return w->before + w->at;
}

static int
malformed(const struct json_walk *w, struct err *e, const char *why)
{
	return err_set(
	    e, &err_malformed, "%s at byte %" PRIu64, why, json_walk_at(w));
}

/* 1 when there is a byte at w->at, 0 at the end of the source. */
static int
fill(struct json_walk *w, struct err *e)
{
	if (w->at < w->n)
		return 1;
	if (w->ended)
		return 0;
	w->before += w->n;
	w->at = w->n = 0;
	if (w->read(w->arg, w->bytes, ROOM, &w->n, e))
		return -1;
	w->ended = w->n == 0;
	return !w->ended;
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Goes to the next byte that counts; it must be there. */
static int
peek(struct json_walk *w, char *c, struct err *e)
{
	int rc;

	while ((rc = fill(w, e)) > 0) {
		*c = w->bytes[w->at];
		if (w->canonical || !is_space(*c))
			return 0;
		w->at++;
	}
	return rc < 0 ? -1 : malformed(w, e, "JSON ends too early");
}

static int
expect(struct json_walk *w, char c, const char *why, struct err *e)
{
	char got;

	if (peek(w, &got, e))
		return -1;
	if (got != c)
		return malformed(w, e, why);
	w->at++;
	return 0;
}

/* How far a value has been passed. */
struct passing {
	bool in_string, escaped, done;
	unsigned depth;
};

static inline void
pass_byte(struct passing *p, char c)
{
	if (p->in_string) {
		if (p->escaped)
			p->escaped = false;
		else if (c == '\\')
			p->escaped = true;
		else if (c == '"')
			p->in_string = false;
	} else if (c == '"') {
		p->in_string = true;
	} else if (c == '{' || c == '[') {
		p->depth++;
	} else if (c == '}' || c == ']') {
		p->depth--;
	}
	p->done = !p->in_string && p->depth == 0;
}

static int
keep(struct json_walk *w, struct buf *out, size_t max, size_t from,
    struct err *e)
{
	struct str s = { w->bytes + from, w->at - from };

	if (!out)
		return 0;
	if (s.n > max || out->n > max - s.n)
		return err_set(e, &err_too_large,
		    "a JSON value of more than %zu bytes at byte %" PRIu64, max,
		    json_walk_at(w) - out->n - s.n);
	buf_add(out, s);
	return 0;
}

/* A string, array or object; its text is added to out, if there is one. */
static int
pass_long(struct json_walk *w, struct buf *out, size_t max, struct err *e)
{
	struct passing p = { 0 };

	while (!p.done) {
		int rc = fill(w, e);
		size_t from = w->at;

		if (rc <= 0)
			return rc < 0 ? -1
				      : malformed(w, e, "JSON ends too early");
		do
			pass_byte(&p, w->bytes[w->at++]);
		while (!p.done && w->at < w->n);
		if (keep(w, out, max, from, e))
			return -1;
	}
	return 0;
}

/* A number, true, false or null: up to what cannot be part of one. */
static int
pass_scalar(struct json_walk *w, struct buf *out, struct err *e)
{
	size_t n = 0;
	int rc;

	while ((rc = fill(w, e)) > 0) {
		char c = w->bytes[w->at];

		if (c == ',' || c == ']' || c == '}' || is_space(c))
			break;
		if (++n > SCALAR_MAX || c == '"' || c == '{' || c == '[')
			return malformed(w, e, "not JSON");
		w->at++;
		if (out)
			buf_add_byte(out, (unsigned char)c);
	}
	if (rc >= 0 && n == 0)
		return malformed(w, e, "a value is missing");
	return rc < 0 ? -1 : 0;
}

static int
pass(struct json_walk *w, struct buf *out, size_t max, struct err *e)
{
	char c;

	if (peek(w, &c, e))
		return -1;
	return c == '"' || c == '{' || c == '[' ? pass_long(w, out, max, e)
						: pass_scalar(w, out, e);
}

int
json_walk_skip(struct json_walk *w, uint64_t *from, struct err *e)
{
	char c;

	if (peek(w, &c, e))
		return -1;
	if (from)
		*from = json_walk_at(w);
	return pass(w, NULL, 0, e);
}

/* The parser counts from the value's first byte. */
static int
bad_value(const struct err *why, uint64_t from, struct err *e)
{
	return err_set(e, why->kind, "%s of the value at byte %" PRIu64,
	    why->detail, from);
}

static int
check_canonical(
    struct json_walk *w, const struct json *v, uint64_t from, struct err *e)
{
	struct err why = { 0 };

	buf_reset(&w->again);
	if (canon_write(v, &w->again, &why))
		return bad_value(&why, from, e);
	if (!str_eq(buf_str(&w->again), buf_str(&w->text)))
		return err_set(e, &err_malformed,
		    "a value that is not in canonical form at byte %" PRIu64,
		    from);
	return 0;
}

int
json_walk_value(struct json_walk *w, struct arena *a, size_t max,
    struct json **out, struct err *e)
{
	struct json_limits limits = { max, NESTED_MAX, NODES_MAX };
	struct err why = { 0 };
	uint64_t from;
	char c;

	buf_reset(&w->text);
	if (peek(w, &c, e))
		return -1;
	from = json_walk_at(w);
	if (pass(w, &w->text, max, e))
		return -1;
	if (json_parse(a, buf_str(&w->text), &limits, out, &why))
		return bad_value(&why, from, e);
	return w->canonical ? check_canonical(w, *out, from, e) : 0;
}

int
json_walk_open(struct json_walk *w, enum json_type type, struct err *e)
{
	bool is_object = type == JSON_OBJECT;
	struct level *l;

	if (w->depth == DEPTH_MAX)
		return malformed(w, e, "nested too deeply");
	if (expect(w, is_object ? '{' : '[',
		is_object ? "an object is missing" : "an array is missing", e))
		return -1;
	l = &w->levels[w->depth++];
	l->is_object = is_object;
	l->any = false;
	buf_reset(&l->name);
	return 0;
}

/* In the canonical form names rise, so none is there twice. */
static int
check_order(
    struct json_walk *w, struct level *l, struct str name, struct err *e)
{
	if (!w->canonical)
		return 0;
	if (l->any && canon_compare_names(buf_str(&l->name), name) >= 0)
		return malformed(
		    w, e, "a member that is there twice or out of order");
	buf_reset(&l->name);
	buf_add(&l->name, name);
	return 0;
}

static int
read_name(struct json_walk *w, struct level *l, struct str *name, struct err *e)
{
	struct json *v;
	char c;

	if (peek(w, &c, e))
		return -1;
	if (c != '"')
		return malformed(w, e, "a member's name is missing");
	arena_reset(w->scratch);
	if (json_walk_value(w, w->scratch, NAME_MAX, &v, e) ||
	    check_order(w, l, v->text, e) ||
	    expect(w, ':', "a colon is missing", e))
		return -1;
	*name = v->text;
	return 0;
}

int
json_walk_next(struct json_walk *w, struct str *name, struct err *e)
{
	struct level *l;
	char c;

	assert(w->depth > 0);
	l = &w->levels[w->depth - 1];
	*name = STR_NONE;
	if (peek(w, &c, e))
		return -1;
	if (c == (l->is_object ? '}' : ']')) {
		w->at++;
		w->depth--;
		return 0;
	}
	if (l->any && expect(w, ',', "a comma is missing", e))
		return -1;
	if (l->is_object && read_name(w, l, name, e))
		return -1;
	l->any = true;
	return 1;
}

/* What can stand in a string as it is. */
static size_t
plain_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && (unsigned char)s.p[n] >= 0x20 && s.p[n] != '"' &&
	       s.p[n] != '\\')
		n++;
	return n;
}

int
json_walk_string(struct json_walk *w,
    int (*piece)(void *arg, struct str, struct err *), void *arg, struct err *e)
{
	int rc;

	if (expect(w, '"', "a string is missing", e))
		return -1;
	while ((rc = fill(w, e)) > 0) {
		struct str s = { w->bytes + w->at, w->n - w->at };

		s.n = plain_length(s);
		w->at += s.n;
		if (s.n > 0 && piece(arg, s, e))
			return -1;
		if (w->at < w->n)
			return expect(w, '"',
			    "a character that this string "
			    "cannot hold",
			    e);
	}
	return rc < 0 ? -1 : malformed(w, e, "JSON ends too early");
}

int
json_walk_end(struct json_walk *w, struct err *e)
{
	int rc;

	while ((rc = fill(w, e)) > 0) {
		if (w->canonical || !is_space(w->bytes[w->at]))
			return malformed(w, e, "something follows the value");
		w->at++;
	}
	return rc;
}
