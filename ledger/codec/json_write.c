#include "ledger/base/swar.h"
#include "ledger/codec/json.h"
#include "ledger/codec/json_text.h"

static void
escape_add(struct buf *b, unsigned char c)
{
	static const char escapes[] = { ['\b'] = 'b',
		['\t'] = 't',
		['\n'] = 'n',
		['\f'] = 'f',
		['\r'] = 'r' };

	if (c == '"' || c == '\\')
		buf_addf(b, "\\%c", c);
	else if (c < sizeof escapes && escapes[c])
		buf_addf(b, "\\%c", escapes[c]);
	else
		buf_addf(b, "\\u%04x", c);
}

/* Length of the part from p that needs no escape. */
static size_t
plain_length(struct str s)
{
	size_t i = 0;

	for (; s.n - i >= 8; i += 8) {
		uint64_t x = swar_load(s.p + i);
		uint64_t marks = swar_mark_control(x) | swar_mark_byte(x, '"') |
				 swar_mark_byte(x, '\\');

		if (marks)
			return i + (size_t)swar_first(marks);
	}
	while (i < s.n && (unsigned char)s.p[i] >= 0x20 && s.p[i] != '"' &&
	       s.p[i] != '\\')
		i++;
	return i;
}

void
json_text_add(struct buf *b, struct str s)
{
	buf_add_byte(b, '"');
	for (;;) {
		size_t n = plain_length(s);

		buf_add(b, str_slice(s, 0, n));
		if (n == s.n)
			break;
		escape_add(b, (unsigned char)s.p[n]);
		s = str_slice(s, n + 1, s.n);
	}
	buf_add_byte(b, '"');
}

/* A line break and the indent of this depth, unless everything is to stand on
 * one line. */
static void
break_line(struct buf *b, int depth)
{
	if (depth < 0)
		return;
	buf_add_byte(b, '\n');
	for (int i = 0; i < depth; i++)
		buf_add_cstr(b, "  ");
}

static void write_value(const struct json *v, struct buf *b, int depth);

static void
write_children(const struct json *v, struct buf *b, int depth)
{
	bool object = v->type == JSON_OBJECT;
	int inner = depth < 0 ? depth : depth + 1;

	buf_add_byte(b, object ? '{' : '[');
	for (const struct json *at = v->first; at; at = at->next) {
		if (at != v->first)
			buf_add_byte(b, ',');
		break_line(b, inner);
		if (object) {
			json_text_add(b, at->name);
			buf_add_cstr(b, depth < 0 ? ":" : ": ");
		}
		write_value(at, b, inner);
	}
	if (v->first)
		break_line(b, depth);
	buf_add_byte(b, object ? '}' : ']');
}

/* depth < 0: no white space. */
static void
write_value(const struct json *v, struct buf *b, int depth)
{
	switch (v->type) {
	case JSON_NULL:
		buf_add_cstr(b, "null");
		break;
	case JSON_FALSE:
		buf_add_cstr(b, "false");
		break;
	case JSON_TRUE:
		buf_add_cstr(b, "true");
		break;
	case JSON_NUMBER:
		buf_add(b, v->text);
		break;
	case JSON_STRING:
		json_text_add(b, v->text);
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		write_children(v, b, depth);
		break;
	}
}

void
json_write(const struct json *v, struct buf *b)
{
	write_value(v, b, -1);
}

void
json_write_pretty(const struct json *v, struct buf *b)
{
	write_value(v, b, 0);
}
